import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseIssuersFile } from '../../../core/auth/issuers-file.js';
import { parseRolesFile } from '../../../core/auth/role-table.js';
import { parseTokenFile } from '../../../core/auth/token-file.js';
import { parseDescriptor } from '../../../core/descriptor/parse-descriptor.js';
import { InvalidFile } from '../../../core/document/diagnostic.js';
import { readStructuredText } from '../../../core/document/parse-document.js';
import { parseCertificateFile } from '../../../core/http/tls/certificate-file.js';
import { parseManifest } from '../../../core/manifest/parse-manifest.js';
import { readPluginManifest } from '../../../core/plugin-loader/plugin-manifest.js';
import { knownAdapters } from '../../support/documents/known-adapters.js';
import { mutate, mutations } from './mutate.js';
import { type Fuzzing, quoteBytes, tryFor } from './run-property.js';
import { TEXTS } from './text-seeds.js';

/** CPU time, because elapsed time is not reliable on a shared machine. */
const MAX_CPU_MS = 2000;

type Parse = (file: string, text: string) => unknown;

/** The parsers of files that operators and authors write, by type of file. */
const PARSERS: Readonly<Record<string, Parse>> = {
  descriptor: (file, text) => parseDescriptor({ file, text, adapters: knownAdapters }),
  manifest: (file, text) => {
    const { value, locate } = readStructuredText(file, text);
    return parseManifest(value, { file, locate });
  },
  tokens: parseTokenFile,
  roles: parseRolesFile,
  issuers: (file, text) => parseIssuersFile(file, text, { LOGIN_SECRET: 'secret' }),
  clients: parseCertificateFile,
};

/**
 * Passes mutated files to the parsers. Each must parse the text or throw InvalidFile within two seconds of
 * CPU time. @returns the number of texts.
 */
export async function fuzzTexts(fuzzing: Fuzzing, parsers = PARSERS): Promise<number> {
  let count = 0;
  const folder = mkdtempSync(join(tmpdir(), 'modgate-fuzz-'));
  const parsePlugin: Parse = (_file, text) => {
    writeFileSync(join(folder, 'plugin.json'), text);
    return readPluginManifest(folder, 'folder');
  };
  const all = Object.entries({ ...parsers, plugin: parsePlugin });
  const plans = fc.record({
    parser: fc.nat({ max: all.length - 1 }),
    isJson: fc.boolean(),
    mutation: mutations,
  });
  try {
    await tryFor(fuzzing, plans, async ({ parser, isJson, mutation }) => {
      const [name, parse] = all[parser] ?? ['none', () => {}];
      const bytes = mutate(mutation, TEXTS);
      count += 1;
      await tryText(parse, isJson ? 'fuzz.json' : 'fuzz.yaml', bytes).catch((cause: Error) => {
        const message = `the ${name} parser ${cause.message}: ${quoteBytes(bytes)}`;
        throw new Error(message, { cause });
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return count;
}

async function tryText(parse: Parse, file: string, bytes: Buffer): Promise<void> {
  const before = process.cpuUsage();
  try {
    await parse(file, bytes.toString());
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw new Error(`threw ${error}`, { cause: error });
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  if (cpuMs > MAX_CPU_MS) throw new Error(`took ${cpuMs.toFixed(0)} ms of CPU time`);
}
