import { create, createField } from './dom.js';
import { createPartList } from './part-list.js';
import type { RequestInputs } from './request-inputs.js';

/** Browsers report this code for each connection that did not open or was lost. */
const NO_CODE = 1006;

/** A form that opens a WebSocket, one that sends lines, and the frames in both directions. */
export function createWebSocketView(
  inputs: RequestInputs,
  connect: (target: string) => WebSocket,
): HTMLElement {
  const output = create('div', { class: 'response', role: 'status' });
  const open = create('button', { type: 'submit' }, 'Connect');
  const close = create('button', { type: 'button', disabled: true }, 'Close');
  const message = create('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  const send = create('button', { type: 'submit', disabled: true }, 'Send');
  const connection = create('form', { class: 'try-it' }, ...inputs.fields, open, close);
  const line = create('form', { class: 'try-it' }, createField('Message', message), send);
  let sendLine = (_text: string) => {};
  let disconnect = () => {};
  const setState = (isStarted: boolean, isOpen: boolean) => {
    open.disabled = isStarted;
    close.disabled = !isStarted;
    send.disabled = !isOpen;
  };
  connection.addEventListener('submit', (event) => {
    event.preventDefault();
    try {
      const socket = connect(inputs.read().target);
      sendLine = showFrames(socket, output, setState);
      disconnect = () => socket.close(1000);
    } catch (error) {
      output.replaceChildren(create('p', {}, `not connected: ${(error as Error).message}`));
    }
  });
  close.addEventListener('click', () => disconnect());
  line.addEventListener('submit', (event) => {
    event.preventDefault();
    sendLine(message.value);
    message.value = '';
  });
  return create('div', {}, connection, line, output);
}

/** @returns sends a line, and shows it */
function showFrames(
  socket: WebSocket,
  output: HTMLElement,
  setState: (isStarted: boolean, isOpen: boolean) => void,
): (text: string) => void {
  const frames = createPartList('\n');
  output.replaceChildren(frames.element);
  frames.setState('connecting');
  setState(true, false);
  socket.addEventListener('open', () => {
    frames.setState('open');
    setState(true, true);
  });
  socket.addEventListener('message', ({ data }: MessageEvent<string | Blob>) => {
    // The form was removed, so nothing else can close the connection.
    if (!output.isConnected) socket.close();
    frames.add(`received: ${typeof data === 'string' ? data : `${data.size} bytes`}`);
  });
  socket.addEventListener('close', ({ code, reason }) => {
    const hint = code === NO_CODE ? 'see modgate calls for what happened' : reason;
    frames.setState(`closed: ${code} ${hint}`.trim());
    setState(false, false);
  });
  return (text) => {
    socket.send(text);
    frames.add(`sent: ${text}`);
  };
}
