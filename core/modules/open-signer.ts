import {
  isProviderFailure,
  type Log,
  ProviderFailure,
  type RequestToSign,
  type Signer,
  type SignerContext,
  type SignerFactory,
} from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { nameError } from '../lib/name-error.js';
import { withTimeout } from '../lib/promises.js';
import { isMapping } from '../lib/read-member.js';
import { findSignedHeaderProblem } from '../lib/signed-headers.js';
import { toError } from '../lib/to-error.js';
import { createLogInterval } from '../log/log-interval.js';

/** A call waits for its signature. Milliseconds. */
const SIGN_TIMEOUT_MS = 1_000;
const OPEN_TIMEOUT_MS = 5_000;
const LOG_INTERVAL_MS = 1_000;

/**
 * Opens a signer of a plugin. Signers are third-party code: each signature has a deadline, and its
 * headers are validated.
 * @param owner receives its uncaught errors
 * @returns a signer whose `sign` rejects only with a ProviderFailure in phase `preparing`
 * @throws Error that names the signer when it cannot be opened.
 */
export async function openSigner(
  factory: SignerFactory,
  config: unknown,
  context: SignerContext,
  owner: ErrorOwner | null,
): Promise<Signer> {
  const { name } = factory;
  const [invalid, validConfig] = factory.config.validate(config, { coerce: true });
  if (invalid !== undefined) throw new Error(`signer '${name}' does not accept its config`);
  const opening = runAs(owner, async () => factory.open(validConfig, context));
  const opened = (await withTimeout<unknown>(opening, OPEN_TIMEOUT_MS, createLateError).catch(
    (error: unknown) => {
      throw createUnusable(name, `${toError(error).message}`, { cause: error });
    },
  )) as Partial<Signer> | null | undefined;
  const sign = opened?.sign;
  if (typeof sign !== 'function') {
    throw createUnusable(name, "'open' must return an object with 'sign'");
  }
  const report = createReport(name, context.log);
  const createLate = () => createFailure(name, `no signature within ${SIGN_TIMEOUT_MS} ms`);
  return {
    sign: async (request: RequestToSign) => {
      try {
        const work = runAs(owner, async () => sign.call(opened, request));
        return readHeaders(name, await withTimeout<unknown>(work, SIGN_TIMEOUT_MS, createLate));
      } catch (error) {
        const isChecked =
          isProviderFailure(error) && error.phase === 'preparing' && error.failure !== 'refused';
        // The message of a plugin's error may contain its key.
        const failure = isChecked ? error : createFailure(name, `it threw ${nameError(error)}`);
        report(failure);
        throw failure;
      }
    },
  };
}

const createLateError = () => new Error(`it did not open within ${OPEN_TIMEOUT_MS} ms`);

function createUnusable(signer: string, problem: string, options: ErrorOptions = {}): Error {
  return new Error(`signer '${signer}' cannot be used: ${problem}`, options);
}

function createReport(signer: string, log: Log): (failure: ProviderFailure) => void {
  const mayLog = createLogInterval(LOG_INTERVAL_MS);
  return ({ detail }) => {
    if (mayLog()) log.error({ signer, reason: detail }, 'signer failed');
  };
}

/** Reads the headers, whose names become lower case. */
function readHeaders(signer: string, signed: unknown): Readonly<Record<string, string>> {
  if (!isMapping(signed)) {
    throw createFailure(signer, "'sign' must return an object of headers");
  }
  const headers: Record<string, string> = {};
  for (const [written, value] of Object.entries(signed as Readonly<Record<string, string>>)) {
    const problem = findSignedHeaderProblem(written, value);
    if (problem !== null) throw createFailure(signer, problem);
    headers[written.toLowerCase()] = value;
  }
  return headers;
}

function createFailure(signer: string, problem: string): ProviderFailure {
  return new ProviderFailure('unavailable', `signer ${signer}: ${problem}`, { phase: 'preparing' });
}
