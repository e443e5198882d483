import type { JSX } from 'preact';

interface TextFieldProps {
  readonly id?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly required?: boolean;
  /** Whether the text is masked. */
  readonly isSecret?: boolean;
  readonly 'aria-describedby'?: string;
}

/**
 * A text of one or more lines, such as a certificate: a field of one line would drop the line
 * breaks of what is pasted. Enter submits the form, Shift+Enter begins a line.
 */
export function TextField({ text, onText, isSecret = false, ...rest }: TextFieldProps) {
  return (
    <textarea
      {...rest}
      rows={1}
      class={isSecret ? 'text secret' : 'text'}
      autocomplete="off"
      // Some browsers send the text to a service that checks its spelling.
      spellcheck={!isSecret}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={submitOnEnter}
    />
  );
}

function submitOnEnter(event: JSX.TargetedKeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  // A click, as for a field of one line: a disabled button ignores it.
  const { form } = event.currentTarget;
  form?.querySelector<HTMLButtonElement>('button[type="submit"]')?.click();
}
