import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog at the side of the page: Escape closes it, and restores the focus. */
export function Panel({ title, onClose, children }: PanelProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);
  return (
    <dialog ref={dialog} class="panel" aria-label={title} onClose={onClose}>
      <header class="card-head">
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  );
}
