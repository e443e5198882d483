import type { AcceptedTokens } from '../../auth/accepted-tokens.js';
import type { Log, TokenExchange } from '../../contract/index.js';
import { toDescriptorPath } from '../../descriptor/config-path.js';
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
    const { exchange } = prepared.descriptor.configDescription ?? {};
    const problem = exchange === undefined ? null : findExchangeProblem(exchange, tokens);
    if (exchange === undefined || problem === null) return [];
    const path = toDescriptorPath(exchange.path);
    const message = `'${path.join('.')}' cannot be used: ${problem}`;
    const violation = { rule: 'exchange-issuer', message, hint: null, path, at: 'key' } as const;
    return createDiagnostic(violation, { file, locate: prepared.locate });
  });
}

function findExchangeProblem({ issuer, tokenUrl }: TokenExchange, tokens: Tokens): string | null {
  try {
    const endpoints = tokens.open(issuer).endpoints();
    if (endpoints === null || tokenUrl === undefined) return null;
    const { href } = new URL(tokenUrl);
    if (endpoints.some((endpoint) => new URL(endpoint).href === href)) return null;
    return "its token endpoint must be one of the issuer's token_endpoints in the issuers file";
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
  const { exchange } = descriptor.configDescription ?? {};
  if (exchange !== undefined && findExchangeProblem(exchange, tokens) !== null) return null;
  try {
    const work = adapter.tryCredentials(descriptor.provider.config, {
      module: descriptor.module,
      log,
      secret: references.secret,
      file: references.file,
      path: references.path,
      ...(exchange !== undefined && { callerTokens: tokens.open(exchange.issuer) }),
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
