import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { headerValue, type ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { sendRequest } from '../http/send-request.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

interface Answered {
  readonly method?: string;
  readonly target: string;
}

/** Hosts whose responses `call` checks, which costs about a millisecond for each. */
export const describedHosts = new WeakSet<object>();

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Checks a response of a forwarded route against the document that the host has at that moment. A response to a
 * request that matches no route has to be a Problem that the document describes.
 */
export async function expectDescribed(
  port: number,
  { method = 'GET', target }: Answered,
  response: ReceivedResponse,
): Promise<void> {
  const path = target.split('?')[0] ?? '';
  if (!path.startsWith('/modules/') || response.status === 0) return;
  const document = await readDocument(port);
  if (document === null) return;
  const name = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  const operation = METHODS.includes(name) ? findOperation(document, path, name) : null;
  // A path of the console bridge, or one that no route matches.
  if (operation === null) return;
  const described = resolve(
    document,
    operation.responses[response.status] ??
      operation.responses[`${Math.trunc(response.status / 100)}XX`] ??
      operation.responses.default,
  );
  const subject = `${method} ${target}: ${response.status}`;
  expect(described, `${subject} is not described`).not.to.equal(undefined);
  if (method === 'HEAD' || response.body.length === 0) return;
  // ajv takes a member of this name for the prototype.
  if (response.body.includes('"__proto__"')) return;
  const type = (headerValue(response.headers, 'content-type') ?? '').split(';')[0]?.trim() ?? '';
  const content = described.content?.[type] ?? described.content?.['application/json'];
  expect(content, `${subject}: ${type} is not described`).not.to.equal(undefined);
  const errors = findErrors(document, content.schema, JSON.parse(response.body.toString()));
  expect(errors, `${subject} ${response.body.toString().slice(0, 500)}`).to.deep.equal([]);
}

/** Compiled schemas by their text, with the components that they refer to: hosts of one file share most of them. */
const compiled = new Map<string, ValidateFunction>();

function findErrors(document: Document, schema: Document, value: unknown): object[] {
  const schemas: Record<string, Document> = {};
  addReferred(document, JSON.stringify(schema), schemas);
  const whole = { ...schema, components: { schemas } };
  const text = JSON.stringify(whole);
  const validate =
    compiled.get(text) ??
    new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(whole);
  compiled.set(text, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

function addReferred(document: Document, text: string, to: Record<string, Document>): void {
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (name in to) continue;
    to[name] = document.components.schemas[name];
    addReferred(document, JSON.stringify(to[name]), to);
  }
}

interface KnownDocument {
  readonly etag: string;
  readonly document: Document;
}

/** The last document of each host, by its port. */
const documents = new Map<number, KnownDocument>();

async function readDocument(port: number): Promise<Document | null> {
  const cached = documents.get(port);
  const response = await sendRequest(port, {
    method: 'GET',
    target: '/openapi.json',
    headers: [
      ['host', `127.0.0.1:${port}`],
      ['authorization', 'Bearer dev-system:conformance'],
      ['connection', 'close'],
      ...(cached === undefined ? [] : [['if-none-match', cached.etag] as const]),
    ],
  }).catch(() => null);
  if (response?.status === 304 && cached !== undefined) return cached.document;
  if (response?.status !== 200) return null;
  const document: Document = JSON.parse(response.body.toString());
  documents.set(port, { etag: headerValue(response.headers, 'etag') ?? '', document });
  return document;
}

function findOperation(document: Document, path: string, method: string): Document | null {
  const segments = path.replace(/\/$/, '').split('/').map(decode);
  const described = Object.entries<Document>(document.paths).flatMap(([template, item]) => {
    const operation = item[method];
    const rest = operation?.parameters?.find(
      (document: Document) => document['x-modgate-rest'],
    )?.name;
    const rank = operation === undefined ? null : rankMatch(template, rest, segments);
    return rank === null ? [] : [{ operation, rank }];
  });
  const hidden = (document['x-modgate-hidden'] ?? []).flatMap((document: Document) => {
    if (document.method.toLowerCase() !== method) return [];
    const template = document.path.replace('...}', '}');
    const rank = rankMatch(template, template.split('/').at(-1).slice(1, -1), segments);
    return rank === null ? [] : [{ operation: null, rank }];
  });
  const candidates = [...described, ...hidden];
  candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return candidates[0]?.operation ?? null;
}

/** A literal wins over a parameter, and that over a rest parameter, from the left; `null` for no match. */
function rankMatch(template: string, rest: string | undefined, segments: string[]): string | null {
  const parts = template.split('/');
  let rank = '';
  for (const [index, part] of parts.entries()) {
    const segment = segments[index];
    if (segment === undefined) return null;
    const name = /^\{(.*)\}$/.exec(part)?.[1];
    if (name === undefined && decode(part) !== segment) return null;
    rank += name === undefined ? '0' : name === rest ? '2' : '1';
    if (name !== undefined && name === rest) return rank;
  }
  return parts.length === segments.length ? rank : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function resolve(document: Document, value: Document): Document {
  const reference: string | undefined = value?.$ref;
  if (reference === undefined) return value;
  return reference
    .slice(2)
    .split('/')
    .reduce((at: Document, key) => at?.[key], document);
}
