import { AssertionError } from 'node:assert';
import type { RequestToSign, Signer } from '../contract/index.js';
import { createFakeOpenContext, type FakeOpenContext } from './fakes/fake-open-context.js';
import type { SignerSubject } from './signer-subject.js';
import { createWait, openLikeHost } from './start-subject.js';
import { countHandles, type Wait } from './wait.js';

/** The fixture of one clause: its own opened signer. */
export class SignerHarness {
  readonly subject: SignerSubject;
  readonly signer: Signer;
  readonly context: FakeOpenContext;
  readonly wait: Wait;
  /** The handles of this process before the signer was opened. */
  readonly handlesBefore: number;

  private constructor(
    subject: SignerSubject,
    signer: Signer,
    context: FakeOpenContext,
    wait: Wait,
    handlesBefore: number,
  ) {
    this.subject = subject;
    this.signer = signer;
    this.context = context;
    this.wait = wait;
    this.handlesBefore = handlesBefore;
  }

  /** Opens the signer, like a host. */
  static async start(subject: SignerSubject): Promise<SignerHarness> {
    const { signer, config = {}, references = {} } = subject;
    const handlesBefore = countHandles();
    const wait = createWait(subject);
    const context = createFakeOpenContext(references);
    const opened = await openLikeHost(signer, config, context, wait);
    return new SignerHarness(subject, opened, context, wait, handlesBefore);
  }

  /** @throws AssertionError for a signer that throws. */
  async sign(subject: string, request: RequestToSign): Promise<Readonly<Record<string, string>>> {
    try {
      const work = (async () => this.signer.sign(request))();
      return await this.wait.settles(`sign of ${subject}`, work);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const thrown = error instanceof Error ? `${error}` : `a ${typeof error}`;
      throw new AssertionError({
        message: `sign of ${subject} must not throw, it threw ${thrown}`,
      });
    }
  }

  close(): Promise<void> {
    return this.wait.settles('close of the scope', this.context.scope.close());
  }
}
