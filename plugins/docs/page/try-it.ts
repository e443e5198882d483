import { type ApiDocument, type ApiOperation, asObject, type JsonObject } from './api-document.js';
import { type BodyField, createBodyField } from './body-field.js';
import { create } from './dom.js';
import { createRequestInputs, type RequestInputs } from './request-inputs.js';
import { showResponse } from './response-view.js';
import { createWebSocketView } from './web-socket-view.js';

export interface ApiRequest {
  readonly method: string;
  /** Path and query, as on a request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob | string | null;
  readonly signal?: AbortSignal;
}

/** How the page calls routes: with the token of its reader. */
export interface Caller {
  send(request: ApiRequest): Promise<Response>;
  /**
   * Missing where the page has no token, which a WebSocket needs.
   * @param target path and query
   */
  readonly connect?: (target: string) => WebSocket;
}

/** A form that calls a route and shows what comes. */
export function createTryIt(api: ApiDocument, entry: ApiOperation, caller: Caller): HTMLElement {
  const inputs = createRequestInputs(api, entry);
  if (asObject(entry.operation['responses'])['101'] !== undefined) {
    return caller.connect === undefined
      ? create('p', {}, 'The page /docs opens WebSockets.')
      : createWebSocketView(inputs, caller.connect);
  }
  return createForm(api, entry, inputs, caller.send);
}

function createForm(
  api: ApiDocument,
  entry: ApiOperation,
  inputs: RequestInputs,
  send: Caller['send'],
): HTMLFormElement {
  const body = createBodyField(api, entry);
  const output = create('div', { class: 'response', role: 'status' });
  const button = create('button', { type: 'submit' }, 'Send');
  const stop = create('button', { type: 'button', disabled: true }, 'Stop');
  const form = create(
    'form',
    { class: 'try-it' },
    ...inputs.fields,
    ...body.fields,
    button,
    stop,
    output,
  );
  const success = readSuccess(api, entry);
  const shown = {
    hasLines: success['x-modgate-stream'] === 'ndjson',
    isBytes: success['x-modgate-bytes'] === true,
  };
  let controller = new AbortController();
  const setSending = (isSending: boolean) => {
    button.disabled = isSending;
    stop.disabled = !isSending;
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    setSending(true);
    controller = new AbortController();
    const { signal } = controller;
    const accept = listTypes(api, entry);
    const sendNow = () => send({ ...createRequest(entry, inputs, body, accept), signal });
    void showResponse(sendNow, output, shown).finally(() => setSending(false));
  });
  stop.addEventListener('click', () => controller.abort());
  return form;
}

/** The response that a call has when it succeeds. */
function readSuccess(api: ApiDocument, { operation }: ApiOperation): JsonObject {
  return api.follow(asObject(operation['responses'])['200']);
}

/** The media types of a successful response, which `accept` has to name for a stream. */
function listTypes(api: ApiDocument, entry: ApiOperation): string {
  const types = Object.keys(asObject(readSuccess(api, entry)['content']));
  return types.join(', ') || 'application/json';
}

/** @throws Error for an invalid path. */
function createRequest(
  { method }: ApiOperation,
  inputs: RequestInputs,
  body: BodyField,
  accept: string,
): ApiRequest {
  const { target, headers } = inputs.read();
  const content = body.read();
  const type = content === null ? '' : body.type();
  return {
    method,
    target,
    headers: { accept, ...headers, ...(type !== '' && { 'content-type': type }) },
    body: content,
  };
}
