import { asObject, asText } from './api-document.js';
import { createBinaryView, revokeUnusedLinks } from './binary-view.js';
import { create } from './dom.js';
import { readParts } from './event-stream.js';
import { formatJson, parseJson } from './json-text.js';
import { createPartList } from './part-list.js';

/** Longer responses are truncated. */
const MAX_SHOWN = 200_000;

const TEXT_TYPE = /^$|^text\/|^application\/(.+\+)?(json|xml)$/;
const EVENTS = 'text/event-stream';
const STREAM_TYPES = [EVENTS, 'application/x-ndjson', 'application/ndjson', 'application/jsonl'];

export interface ResponseForm {
  /** Whether a response of any type is one value in each line. */
  readonly hasLines: boolean;
  /** Whether a response of any type, such as text, is a file. */
  readonly isBytes: boolean;
}

/** Sends a request and shows its response: a stream as it comes. */
export async function showResponse(
  send: () => Promise<Response>,
  output: HTMLElement,
  form: ResponseForm,
): Promise<void> {
  output.replaceChildren('sending …');
  revokeUnusedLinks();
  const startedAt = performance.now();
  const since = () => `in ${Math.round(performance.now() - startedAt)} ms`;
  try {
    const response = await send();
    const type = readType(response);
    const isStream = STREAM_TYPES.includes(type) || (form.hasLines && response.ok);
    if (isStream && response.body !== null) {
      await showStream(response, response.body, type === EVENTS, output, since());
      return;
    }
    const content = await response.blob();
    const isText = TEXT_TYPE.test(type) || content.size === 0;
    const isFile = content.size > 0 && (!isText || (form.isBytes && response.ok));
    const text = isText ? await content.text() : '';
    const title = asText(asObject(parseJson(text))['title']);
    output.replaceChildren(
      ...createHead(response, title, since()),
      ...(isFile ? await createBinaryView(content, type, nameFile(response)) : []),
      ...(isText ? [create('pre', {}, shorten(formatJson(text)))] : []),
    );
  } catch (error) {
    output.replaceChildren(create('p', {}, `no response: ${describeError(error)}`));
  }
}

async function showStream(
  response: Response,
  body: ReadableStream<Uint8Array>,
  hasEvents: boolean,
  output: HTMLElement,
  since: string,
): Promise<void> {
  const parts = createPartList(hasEvents ? '\n\n' : '\n');
  output.replaceChildren(...createHead(response, '', since), parts.element);
  parts.setState('open');
  try {
    const isShown = () => output.isConnected;
    await readParts(body, hasEvents, (part) => parts.add(part), isShown);
    parts.setState('ended');
  } catch (error) {
    parts.setState(isStopped(error) ? 'stopped' : `cut: ${describeError(error)}`);
  }
}

function createHead({ status, headers }: Response, title: string, since: string): HTMLElement[] {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  const words = [String(status), title, since].filter((word) => word !== '');
  return [create('p', {}, words.join(' ')), create('pre', { class: 'headers' }, lines.join('\n'))];
}

/** The media type in lower case, without parameters. */
function readType({ headers }: Response): string {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  return type.trim().toLowerCase();
}

/** The name that the response suggests for its file, otherwise the last segment of its path. */
function nameFile({ headers, url }: Response): string {
  const [, name] = /filename="?([^";]+)/i.exec(headers.get('content-disposition') ?? '') ?? [];
  const [last = ''] = new URL(url).pathname.split('/').slice(-1);
  return name ?? (last || 'response');
}

function isStopped(error: unknown): boolean {
  return (error as Error).name === 'AbortError';
}

function describeError(error: unknown): string {
  return isStopped(error) ? 'stopped' : (error as Error).message;
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN
    ? text
    : `${text.slice(0, MAX_SHOWN)}\n… ${text.length} characters`;
}
