import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isSignedIn } from '../api.js';

interface PanelProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog at the side of the page: Escape closes it, and restores the focus. */
export function Panel({ title, onClose, children }: PanelProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = isSignedIn();
  useEffect(() => {
    const opened = dialog.current;
    // An open one would keep everything else from the keyboard and the mouse, also the sign-in.
    if (!isShown) return;
    opened?.showModal();
    return () => opened?.close();
  }, [isShown]);
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-label={title}
      onClose={() => {
        if (isSignedIn()) onClose();
      }}
    >
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
