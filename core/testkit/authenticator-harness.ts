import { AssertionError } from 'node:assert';
import type { Actor, AuthenticationResult, Authenticator } from '../contract/index.js';
import { findResultProblem } from '../lib/authentication-result.js';
import type {
  AuthenticatorSubject,
  GivenCredentials,
  RunningIssuer,
} from './authenticator-subject.js';
import { createFakeOpenContext, type FakeOpenContext } from './fakes/fake-open-context.js';
import { completeCredentials } from './given-credentials.js';
import { createWait, openLikeHost, startSubject } from './start-subject.js';
import { countHandles, type Wait } from './wait.js';

/** The result of accepted credentials. */
interface Accepted {
  readonly actor: Actor;
  readonly bodySha256: string | undefined;
}

/** What a harness is made of. */
interface Opened {
  readonly subject: AuthenticatorSubject;
  readonly issuer: RunningIssuer;
  readonly authenticator: Authenticator;
  readonly context: FakeOpenContext;
  readonly wait: Wait;
  readonly handlesBefore: number;
}

/** The fixture of one clause: its own opened authenticator. */
export class AuthenticatorHarness {
  readonly subject: AuthenticatorSubject;
  readonly issuer: RunningIssuer;
  readonly authenticator: Authenticator;
  readonly context: FakeOpenContext;
  readonly wait: Wait;
  /** The handles of this process before the subject was started. */
  readonly handlesBefore: number;
  #isClosed = false;

  private constructor(opened: Opened) {
    this.subject = opened.subject;
    this.issuer = opened.issuer;
    this.authenticator = opened.authenticator;
    this.context = opened.context;
    this.wait = opened.wait;
    this.handlesBefore = opened.handlesBefore;
  }

  /** Starts the subject and opens the authenticator, like a host. */
  static async start(subject: AuthenticatorSubject): Promise<AuthenticatorHarness> {
    const handlesBefore = countHandles();
    const wait = createWait(subject);
    const issuer = await startSubject(wait, subject.start);
    const context = createFakeOpenContext(issuer.references);
    try {
      const { config = {} } = issuer;
      const authenticator = await openLikeHost(subject.authenticator, config, context, wait);
      return new AuthenticatorHarness({
        subject,
        issuer,
        authenticator,
        context,
        wait,
        handlesBefore,
      });
    } catch (error) {
      await stop(issuer, wait).catch(() => {});
      throw error;
    }
  }

  /** @throws AssertionError for an authenticator that fails, which callers would see as a 503. */
  async authenticate(subject: string, partial: GivenCredentials): Promise<Accepted | null> {
    const credentials = completeCredentials(partial);
    const work = (async () => this.authenticator.authenticate(credentials))();
    try {
      const result = await this.wait.settles(`authenticate of ${subject}`, work);
      const problem = findResultProblem(result);
      if (problem === null) return readAccepted(result);
      throw new AssertionError({ message: `authenticate of ${subject} ${problem}` });
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const message = `authenticate of ${subject} must not throw, it threw ${describe(error)}`;
      throw new AssertionError({ message });
    }
  }

  /** Does nothing when called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.wait.settles('close of the scope', this.context.scope.close());
    } finally {
      await stop(this.issuer, this.wait);
    }
  }
}

async function stop(issuer: RunningIssuer, wait: Wait): Promise<void> {
  await wait.settles('stop of the subject', issuer.stop?.() ?? Promise.resolve());
}

function readAccepted(result: AuthenticationResult): Accepted | null {
  if (result === null || 'rejected' in result) return null;
  return 'actor' in result ? result : { actor: result, bodySha256: undefined };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error}` : `a ${typeof error}`;
}
