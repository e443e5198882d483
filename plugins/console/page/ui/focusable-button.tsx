import type { ComponentChildren, JSX } from 'preact';

interface FocusableButtonProps {
  /** Whether the button has no effect for now, such as while its work runs. */
  readonly isOff: boolean;
  readonly type?: 'submit' | 'button';
  readonly class?: string;
  readonly disabled?: boolean;
  /** Not called while the button is off. */
  readonly onClick?: (event: JSX.TargetedMouseEvent<HTMLButtonElement>) => void;
  readonly children: ComponentChildren;
}

/**
 * A button that keeps the focus of the keyboard while it is off. A button that becomes `disabled`
 * loses it.
 */
export function FocusableButton({
  isOff,
  type = 'button',
  onClick,
  ...rest
}: FocusableButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-disabled={isOff}
      onClick={(event) => {
        // Also prevents that Enter in a field submits the form.
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
