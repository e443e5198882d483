/** The maximum of unread events of a client, after which its stream ends. Characters. */
const MAX_BACKLOG = 1_048_576;

export class BrowserStream {
  readonly response: Response;
  readonly #encoder = new TextEncoder();
  readonly #onClose: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isClosed = false;

  /** @param onClose called once, when either side closes it */
  constructor(headers: Readonly<Record<string, string>>, onClose: () => void) {
    this.#onClose = onClose;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: MAX_BACKLOG, size: (chunk) => chunk.byteLength },
    );
    this.response = new Response(body, { headers });
  }

  send(event: string, data: unknown): void {
    this.sendText(encodeEvent(event, data));
  }

  /** Sends encoded events; an empty text sends nothing. */
  readonly sendText = (text: string): void => {
    if (text !== '') this.#write(text);
  };

  /** How long the client waits before it connects again. */
  retry(ms: number): void {
    this.#write(`retry: ${ms}\n\n`);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#controller?.close();
    this.#end();
  }

  #write(text: string): void {
    if (this.#isClosed || this.#controller === null) return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if ((this.#controller.desiredSize ?? 0) <= 0) this.close();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
  }
}

export function encodeEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
