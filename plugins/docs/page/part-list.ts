import { create } from './dom.js';

const MAX_PARTS = 100;
const MAX_BYTES = 65_536;

export interface PartList {
  readonly element: HTMLElement;
  add(part: string): void;
  /** Shows what happens to the connection: `open`, `stopped`. */
  setState(state: string): void;
}

/**
 * Shows the newest parts of a stream, such as events or frames, which may have any number of them.
 * @param separator between parts
 */
export function createPartList(separator: string): PartList {
  const encoder = new TextEncoder();
  const room = new Uint8Array(MAX_BYTES - separator.length);
  const parts: { readonly text: string; readonly bytes: number }[] = [];
  let bytes = 0;
  let count = 0;
  let isPlanned = false;
  // Screen readers announce the state, and not each part.
  const total = create('span', { 'aria-live': 'off' });
  const state = create('span', {});
  const label = { role: 'region', 'aria-label': 'Received', 'aria-live': 'off' };
  const text = create('pre', { class: 'parts', tabindex: '0', ...label });
  const show = () => {
    isPlanned = false;
    const rest = parts.length === count ? '' : `, the newest ${parts.length} shown`;
    total.textContent = `${count} ${count === 1 ? 'part' : 'parts'}${rest}, `;
    text.textContent = parts.map((part) => part.text).join(separator);
  };
  show();
  return {
    element: create('div', {}, create('p', {}, total, state), text),
    add(part) {
      const { read, written } = encoder.encodeInto(part, room);
      parts.push({ text: part.slice(0, read), bytes: written + separator.length });
      bytes += written + separator.length;
      count += 1;
      while (parts.length > MAX_PARTS || bytes > MAX_BYTES) bytes -= parts.shift()?.bytes ?? 0;
      if (isPlanned) return;
      isPlanned = true;
      requestAnimationFrame(show);
    },
    setState(value) {
      show();
      state.textContent = value;
    },
  };
}
