import { readFile, stat } from 'node:fs/promises';
import { readAtMost } from '../../contract/read-at-most.js';
import { fetchText, TextUnavailable } from '../../document/fetch-text.js';
import { parseJsonNode } from '../../document/json-parser.js';
import { createPlaceFinder } from '../../document/position.js';
import { describeUnreadable } from '../../document/read-file.js';
import { SyntaxStop } from '../../document/syntax-tree.js';
import { FILE_LIMITS } from '../../document/text-limits.js';
import { ConfigError } from '../../errors.js';
import { skipMarkOfText } from '../../lib/byte-order-mark.js';
import { decodeUtf8 } from '../../lib/decode-utf8.js';
import { CommandError } from '../command-error.js';
import { parseYaml } from './parse-yaml.js';

/** The largest public descriptions have about 12 MiB. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_TEXT = '32 MiB';

const FETCH_TIMEOUT_MS = 30_000;

const JSON_LIMITS = { ...FILE_LIMITS, length: MAX_BYTES, values: MAX_BYTES };

export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** The source that stands for standard input. */
const INPUT = '-';

/**
 * Reads a document in JSON or YAML from a URL, a file or standard input.
 * @param subject starts the message of an error
 * @throws ConfigError for a file that cannot be read; CommandError for any other source.
 */
export async function readSource(
  source: string,
  subject = describeSource(source),
): Promise<{ readonly value: unknown; readonly bytes: number }> {
  const read = isUrl(source) ? fetchDocument : readDocument;
  const text = skipMarkOfText(
    source === INPUT ? await readInput(subject) : await read(source, subject),
  );
  const value = parseText(text, subject, /\.ya?ml$/i.test(source));
  return { value, bytes: Buffer.byteLength(text) };
}

function describeSource(source: string): string {
  if (source === INPUT) return 'the document on stdin';
  return source.includes('://') ? 'the URL of the document' : source;
}

async function readInput(subject: string): Promise<string> {
  const bytes = await readAtMost(process.stdin, MAX_BYTES);
  if (bytes === null) throw new CommandError(`${subject} is larger than ${MAX_TEXT}`);
  return decodeDocument(bytes, subject);
}

function decodeDocument(bytes: Buffer, subject: string): string {
  const text = decodeUtf8(bytes);
  if (text === null) throw new CommandError(`${subject} is not valid UTF-8`);
  return text;
}

/** @param isYaml whether the name says so: YAML may have the braces of JSON */
function parseText(text: string, subject: string, isYaml: boolean): unknown {
  const start = text.trimStart();
  if (start.startsWith('<')) {
    throw new CommandError(`${subject} is a page or XML: name the document itself, JSON or YAML`);
  }
  const isJson = start.startsWith('{');
  try {
    return isJson ? parseJson(text, isYaml) : parseYaml(text);
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error;
    const { message, offset } = error.violation;
    const { line } = createPlaceFinder(text)(offset);
    const problem = `is not valid ${isJson && !isYaml ? 'JSON' : 'YAML'} at line ${line}`;
    throw new CommandError(`${subject} ${problem}: ${message}`, { cause: error });
  }
}

/** Parses invalid JSON again, because an error of `JSON.parse` has no position. */
function parseJson(text: string, isYaml: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (isYaml) return parseYaml(text);
    parseJsonNode(text, [], JSON_LIMITS);
    throw new SyntaxStop({
      rule: 'json-syntax',
      message: 'unexpected text',
      hint: null,
      offset: 0,
    });
  }
}

async function fetchDocument(url: string, subject: string): Promise<string> {
  if (!URL.canParse(url)) throw new CommandError(`${subject} is not a URL`);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw new ConfigError(`${subject} has credentials: download the document and import the file`);
  }
  try {
    const accept = 'application/json, application/yaml, */*';
    const limits = { subject, accept, maxBytes: MAX_BYTES, maxText: MAX_TEXT };
    const never = new AbortController().signal;
    return (await fetchText(url, never, { ...limits, timeoutMs: FETCH_TIMEOUT_MS })).text;
  } catch (error) {
    if (!(error instanceof TextUnavailable)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}

async function readDocument(file: string, subject: string): Promise<string> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw new ConfigError(`${subject} is not a regular file`);
    if (status.size > MAX_BYTES) throw new CommandError(`${subject} is larger than ${MAX_TEXT}`);
    return decodeDocument(await readFile(file), subject);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const problem = isMissing ? 'does not exist' : describeUnreadable(error);
    throw new ConfigError(`${subject} ${problem}`, { cause: error });
  }
}
