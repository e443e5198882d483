import type { OpenSurfaces } from '../compose.js';
import type { ReadConfig } from '../config/read-config.js';
import type { HostConfig } from '../config/settings.js';
import type { HostAnswers } from '../processes.js';

export type ServeSettings = ReadConfig<keyof HostConfig>;

/** The phase of the whole host, in all of its processes. */
export type HostPhase = 'starting' | 'serving' | 'draining';

export interface WorkerStart {
  /** The settings as read by the primary, so that a file changed meanwhile cannot make workers differ. */
  readonly settings: ServeSettings;
  /** The number of the worker in the log and in `GET /modules`. */
  readonly worker: number;
  readonly phase: HostPhase;
  /** The data with which the clients of services start, by service. */
  readonly services: ReadonlyMap<string, unknown>;
}

export type WorkerMessage =
  | { readonly type: 'hello' }
  /** The configuration is invalid, so that no worker can start. */
  | { readonly type: 'misconfigured'; readonly message: string }
  /** The worker has read its modules. */
  | { readonly type: 'ready' }
  | { readonly type: 'serving'; readonly url: string; readonly surfaces: OpenSurfaces }
  /** The worker has the connection that was handed to it. */
  | { readonly type: 'taken' }
  | { readonly type: 'heartbeat' }
  /** A question to all workers. */
  | {
      readonly type: 'query';
      readonly id: number;
      readonly subject: string;
      readonly input: unknown;
    }
  | { readonly type: 'response'; readonly id: number; readonly response: unknown }
  /** A message to all other workers. */
  | { readonly type: 'notice'; readonly channel: string; readonly message: unknown }
  /** A message to the primary's part of a service. */
  | { readonly type: 'message'; readonly service: string; readonly message: unknown }
  | {
      readonly type: 'question';
      readonly id: number;
      readonly service: string;
      readonly question: unknown;
    };

export type PrimaryMessage =
  | { readonly type: 'start'; readonly start: WorkerStart }
  /** Serve the connections that the primary accepts at this URL. */
  | { readonly type: 'serve'; readonly url: string }
  /** Comes with a connection. */
  | { readonly type: 'connection' }
  /** The worker sends it back. */
  | { readonly type: 'heartbeat' }
  | { readonly type: 'phase'; readonly phase: HostPhase }
  | { readonly type: 'lead'; readonly leads: boolean }
  | { readonly type: 'rescan' }
  /** `isReplaced`: other workers continue to serve, so callers must not notice the drain. */
  | { readonly type: 'drain'; readonly isReplaced: boolean }
  | {
      readonly type: 'request';
      readonly id: number;
      readonly subject: string;
      readonly input: unknown;
    }
  /** Completes the worker's query of the same id. */
  | {
      readonly type: 'result';
      readonly id: number;
      readonly result: HostAnswers<unknown, unknown>;
    }
  /** The worker is 0 for the primary. */
  | {
      readonly type: 'notice';
      readonly channel: string;
      readonly worker: number;
      readonly message: unknown;
    }
  /** Completes the worker's question of the same id. */
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown };
