import { AssertionError } from 'node:assert';
import type { Actor, AuthenticationResult } from '../contract/index.js';
import type {
  AuthenticatorSubject,
  GivenCredentials,
  RunningAuthenticator,
} from './authenticator-subject.js';
import { completeCredentials } from './given-credentials.js';
import { countHandles, Wait } from './wait.js';

const DEFAULT_TIMEOUT_MS = 10_000;

/** The result of accepted credentials. */
interface Accepted {
  readonly actor: Actor;
  readonly bodySha256: string | undefined;
}

/** The fixture of one clause: its own authenticator. */
export class AuthenticatorHarness {
  readonly running: RunningAuthenticator;
  readonly wait: Wait;
  /** The handles of this process before the authenticator was started. */
  readonly handlesBefore: number;
  #isStopped = false;

  private constructor(running: RunningAuthenticator, wait: Wait, handlesBefore: number) {
    this.running = running;
    this.wait = wait;
    this.handlesBefore = handlesBefore;
  }

  static async start(subject: AuthenticatorSubject): Promise<AuthenticatorHarness> {
    const handlesBefore = countHandles();
    const wait = new Wait(subject.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    return new AuthenticatorHarness(await subject.start(), wait, handlesBefore);
  }

  /** @throws AssertionError for an authenticator that throws, which callers would see as a 500. */
  async authenticate(subject: string, partial: GivenCredentials): Promise<Accepted | null> {
    const credentials = completeCredentials(partial);
    const work = (async () => this.running.authenticator.authenticate(credentials))();
    try {
      return readAccepted(await this.wait.settles(`authenticate of ${subject}`, work));
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const message = `authenticate of ${subject} must not throw, it threw ${describe(error)}`;
      throw new AssertionError({ message });
    }
  }

  /** Does nothing when called again. */
  async close(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.wait.settles('stop of the authenticator', this.running.stop());
  }
}

function readAccepted(result: AuthenticationResult): Accepted | null {
  if (result === null || 'rejected' in result) return null;
  return 'actor' in result ? result : { actor: result, bodySha256: undefined };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : `a ${typeof error}`;
}
