import { AssertionError } from 'node:assert';
import { type Actor, isSurfaceError, type Surface, type SurfaceCall } from '../contract/index.js';
import { assertResponse } from '../lib/surface-rules.js';
import { createFakeSurfaceContext, type FakeSurfaceContext } from './fakes/fake-surface-context.js';
import { createWait, openLikeHost } from './start-subject.js';
import type { SurfaceRequest, SurfaceSubject } from './surface-subject.js';
import type { Wait } from './wait.js';

const ORIGIN = 'http://localhost:3000';

/** A request of a clause. */
interface ClauseRequest extends SurfaceRequest {
  /** Default `null`. */
  readonly actor?: Actor | null;
}

/** The result of a request to a surface. */
export type SurfaceResult =
  | { readonly kind: 'response'; readonly response: Response }
  | { readonly kind: 'problem'; readonly code: string; readonly isFromHead: boolean };

/** The fixture of one clause: its own opened surface. */
export class SurfaceHarness {
  readonly subject: SurfaceSubject;
  readonly wait: Wait;
  readonly context: FakeSurfaceContext;
  #surface: Surface | null = null;
  #calls = 0;

  constructor(subject: SurfaceSubject) {
    this.subject = subject;
    this.wait = createWait(subject);
    this.context = createFakeSurfaceContext(subject.host);
  }

  /** Opens the surface, like a host. */
  async open(): Promise<void> {
    const { surface, config = {} } = this.subject;
    this.#surface = await openLikeHost<unknown, FakeSurfaceContext, Surface>(
      surface,
      config,
      this.context,
      this.wait,
    );
  }

  /** @throws AssertionError for anything but a response or a SurfaceError. */
  async fetch({ path = '', actor = null, ...init }: ClauseRequest): Promise<SurfaceResult> {
    const { prefix, authentication = 'host' } = this.subject.surface;
    const target = `${prefix}${path}`;
    const subject = `${init.method ?? 'GET'} ${target.slice(0, 60)}`;
    this.#calls += 1;
    const call: SurfaceCall = Object.freeze({
      requestId: `req_${this.#calls}`,
      correlationId: `corr_${this.#calls}`,
      target,
      signal: init.signal ?? new AbortController().signal,
      actor: authentication === 'own' ? null : actor,
      origin: ORIGIN,
      isSameOrigin: true,
      isListedOrigin: false,
      network: '127.0.0.1',
    });
    const headers = new Headers(init.headers);
    if (typeof init.body === 'string') {
      headers.set('content-length', String(Buffer.byteLength(init.body)));
    }
    const request = new Request(`${ORIGIN}${target}`, { ...init, headers });
    const head = new Request(`${ORIGIN}${target}`, { ...init, headers, body: null });
    let isFromHead = true;
    const work = (async () => {
      if (authentication === 'own') await this.#surface?.identify?.(head, call);
      await this.#surface?.admit?.(head, call);
      isFromHead = false;
      return this.#surface?.fetch(request, call);
    })();
    try {
      const response = await this.wait.settles(subject, work);
      return { kind: 'response', response: assertResponse(response) };
    } catch (error) {
      if (isSurfaceError(error)) return { kind: 'problem', code: error.code, isFromHead };
      if (error instanceof AssertionError) throw error;
      const thrown = error instanceof Error ? `${error}` : `a ${typeof error}`;
      throw new AssertionError({ message: `${subject} must not fail with ${thrown}` });
    }
  }

  /** Reads a body, or the beginning of a stream, and cancels the rest. */
  async discard(result: SurfaceResult): Promise<void> {
    if (result.kind === 'response') {
      await this.wait.settles('cancel of a body', result.response.body?.cancel() ?? noWork());
    }
  }

  close(): Promise<void> {
    return this.wait.settles('close of the scope', this.context.scope.close());
  }
}

async function noWork(): Promise<void> {}
