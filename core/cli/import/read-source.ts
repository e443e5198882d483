import { readFile, stat } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import { fetchText, TextUnavailable } from '../../document/fetch-text.js';
import { skipMarkOfText } from '../../lib/byte-order-mark.js';
import { decodeUtf8 } from '../../lib/decode-utf8.js';
import { CommandError } from '../command-error.js';

/** The largest public descriptions have about 12 MiB. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_TEXT = '32 MiB';

const FETCH_TIMEOUT_MS = 30_000;

/**
 * Reads a document in JSON or YAML from a URL or a file.
 * @throws CommandError when it cannot be read.
 */
export async function readSource(source: string): Promise<unknown> {
  const isUrl = /^https?:\/\//i.test(source);
  const subject = isUrl ? 'the URL of the document' : source;
  const text = skipMarkOfText(
    isUrl ? await fetchDocument(source, subject) : await readDocument(source),
  );
  const isJson = text.trimStart().startsWith('{');
  try {
    if (isJson) return JSON.parse(text);
    // The library limits the expansion of aliases.
    return parse(text, { version: '1.2', merge: true, logLevel: 'error', prettyErrors: true });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const place = line === undefined ? '' : `: see line ${line}`;
    const problem = `is not valid ${isJson ? 'JSON' : 'YAML'}${place}`;
    throw new CommandError(`${subject} ${problem}`, { cause: error });
  }
}

async function fetchDocument(url: string, subject: string): Promise<string> {
  if (!URL.canParse(url)) throw new CommandError(`${subject} is not a URL`);
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

async function readDocument(file: string): Promise<string> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw new CommandError(`${file} is not a regular file`);
    if (status.size > MAX_BYTES) throw new CommandError(`${file} is larger than ${MAX_TEXT}`);
    const text = decodeUtf8(await readFile(file));
    if (text === null) throw new CommandError(`${file} is not valid UTF-8`);
    return text;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : 'cannot be read';
    throw new CommandError(`${file} ${reason}`, { cause: error });
  }
}
