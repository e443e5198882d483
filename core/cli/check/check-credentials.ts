import type { AcceptedTokens } from '../../auth/accepted-tokens.js';
import type { Log } from '../../contract/index.js';
import { EXCHANGE_PATH, readExchange } from '../../descriptor/exchange.js';
import { createDiagnostic, type Diagnostic } from '../../document/diagnostic.js';
import { withTimeout } from '../../lib/promises.js';
import { toError } from '../../lib/to-error.js';
import type { PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import type { CheckedFile } from './check-report.js';

/** Longer than the timeout of the adapters. Milliseconds. */
const TIMEOUT_MS = 15_000;

type Tokens = Pick<AcceptedTokens, 'open'>;

interface CheckedCredentials {
  readonly files: readonly CheckedFile[];
  /** The tokens of the issuers file. */
  readonly tokens: Tokens;
  readonly log: Log;
}

/** Reports modules that exchange tokens of an issuer or endpoint that the issuers file lacks. */
export function checkExchange({ files, tokens }: CheckedCredentials): Diagnostic[] {
  return listPrepared(files).flatMap(({ file, prepared }) => {
    const problem = findExchangeProblem(prepared, tokens);
    if (problem === null) return [];
    const message = `'provider.config.auth.exchange' cannot be used: ${problem}`;
    const violation = {
      rule: 'exchange-issuer',
      message,
      hint: null,
      path: EXCHANGE_PATH,
    } as const;
    return createDiagnostic({ ...violation, at: 'key' }, { file, locate: prepared.locate });
  });
}

function findExchangeProblem(
  { descriptor, adapter }: PreparedDescriptor,
  tokens: Tokens,
): string | null {
  const exchange = readExchange(descriptor.provider.config, adapter);
  if (exchange === null) return null;
  try {
    const endpoints = tokens.open(exchange.issuer).endpoints();
    if (endpoints === null || exchange.tokenUrl === null) return null;
    const { href } = new URL(exchange.tokenUrl);
    if (endpoints.some((endpoint) => new URL(endpoint).href === href)) return null;
    return "token_url must be one of the issuer's token_endpoints in the issuers file";
  } catch (error) {
    return toError(error).message;
  }
}

/** Requests credentials like the first call of each module. @returns a problem for each failure */
export async function checkCredentials(checked: CheckedCredentials): Promise<string[]> {
  const problems: string[] = [];
  // Runs one request at a time, so that modules with the same token endpoint do not flood it.
  for (const { prepared } of listPrepared(checked.files)) {
    const problem = await findCredentialProblem(prepared, checked);
    const { module } = prepared.descriptor;
    if (problem !== null) problems.push(`credentials of module '${module}': ${problem}`);
  }
  return problems;
}

async function findCredentialProblem(
  prepared: PreparedDescriptor,
  { tokens, log }: CheckedCredentials,
): Promise<string | null> {
  const { adapter, descriptor, references, missingSecrets } = prepared;
  const isUsable = descriptor.enabled && missingSecrets.length === 0;
  if (!isUsable || adapter.tryCredentials === undefined) return null;
  if (findExchangeProblem(prepared, tokens) !== null) return null;
  const { config } = descriptor.provider;
  const exchange = readExchange(config, adapter);
  try {
    const work = adapter.tryCredentials(config, {
      module: descriptor.module,
      log,
      secret: references.secret,
      file: references.file,
      path: references.path,
      ...(exchange !== null && { callerTokens: tokens.open(exchange.issuer) }),
    });
    const createLate = () => new Error(`there were none within ${TIMEOUT_MS} ms`);
    return await withTimeout(work, TIMEOUT_MS, createLate);
  } catch (error) {
    return toError(error).message;
  }
}

function listPrepared(files: readonly CheckedFile[]) {
  return files.flatMap((file) =>
    file.kind === 'descriptor' && file.prepared !== null
      ? [{ file: file.file, prepared: file.prepared }]
      : [],
  );
}
