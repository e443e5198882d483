import { AssertionError } from 'node:assert';
import type { Actor, Credentials } from '../contract/index.js';
import type { AuthenticatorSubject, RunningAuthenticator } from './authenticator-subject.js';
import { countHandles, Wait } from './wait.js';

const DEFAULT_TIMEOUT_MS = 10_000;

/** What one clause works with: an authenticator of its own. */
export class AuthenticatorHarness {
  readonly running: RunningAuthenticator;
  readonly patience: Wait;
  /** How many handles this process had before the authenticator was there. */
  readonly handlesBefore: number;
  #isStopped = false;

  private constructor(running: RunningAuthenticator, patience: Wait, handlesBefore: number) {
    this.running = running;
    this.patience = patience;
    this.handlesBefore = handlesBefore;
  }

  static async start(subject: AuthenticatorSubject): Promise<AuthenticatorHarness> {
    const handlesBefore = countHandles();
    const patience = new Wait(subject.patienceMs ?? DEFAULT_TIMEOUT_MS);
    return new AuthenticatorHarness(await subject.start(), patience, handlesBefore);
  }

  /** @throws AssertionError for an authenticator that throws: that would be a fault of its own (500). */
  async ask(what: string, credentials: Credentials): Promise<Actor | null> {
    const asking = (async () => this.running.authenticator.authenticate(credentials))();
    try {
      return await this.patience.settles(`authenticate of ${what}`, asking);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const message = `authenticate of ${what} must answer, it threw ${describe(error)}`;
      throw new AssertionError({ message });
    }
  }

  /** The second time it does nothing. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.patience.settles('stop of the authenticator', this.running.stop());
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : 'something that is no error';
}
