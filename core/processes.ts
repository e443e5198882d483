import type { HostConfig } from './config/settings.js';
import type { Log } from './contract/index.js';

/** One process of a host is the leader. When it exits, another one takes over. */
export interface Leadership {
  readonly leads: boolean;
  /** @param listener called when `leads` has changed. @returns a function that removes it. */
  onChange(listener: () => void): () => void;
}

/** The leadership of one process of one host of a fleet. */
export interface FleetLeadership extends Leadership {
  /**
   * Runs work for the whole fleet while the store confirms that no other host does.
   * @param ending aborted when the store has not confirmed it for 5 s
   * @returns `null` without running the work when another host may act
   * @throws StoreUnavailable, and the error of the work.
   */
  act<T>(ending: AbortController, work: () => Promise<T>): Promise<T | null>;
}

/** The leadership of a host with one process. */
export const SOLE_LEADER: Leadership = { leads: true, onChange: () => () => {} };

export interface ProcessAnswer<Answer> {
  readonly worker: number;
  /** Whether the process serves; one that drains still has calls. */
  readonly isServing: boolean;
  readonly answer: Answer;
}

export interface HostAnswers<Answer, Known = null> {
  /** Omits processes that did not answer in time; empty only if `known` can stand alone. */
  readonly answers: readonly ProcessAnswer<Answer>[];
  /** The number of serving processes. */
  readonly workers: number;
  /** What the primary's part of the service with the name of the subject adds; `null` without one. */
  readonly known: Known | null;
}

/**
 * Asks all processes of the host, including this one.
 * @throws HostError 503 when too many questions wait, or the primary does not respond.
 */
export type AskAll<Input, Answer, Known = null> = (
  input: Input,
) => Promise<HostAnswers<Answer, Known>>;

export interface ProcessContext {
  readonly config: HostConfig;
  readonly log: Log;
}

/**
 * The processes of a host, as one of them sees them. A value or a message that all of them share is
 * declared where it is used; this interface only carries it.
 */
export interface Processes {
  readonly leadership: Leadership;
  /** Writes request lines, which have only the fields of the specification. */
  readonly requestLog: Log;
  /** The reason why other processes make the host not ready; `null` if they do not. */
  unreadyReason(): string | null;
  /**
   * Answers the questions of all processes on a subject.
   * @param subject unique; call it once
   * @returns asks all processes
   */
  share<Input, Answer, Known = null>(
    subject: string,
    answer: (input: Input) => Answer | Promise<Answer>,
  ): AskAll<Input, Answer, Known>;
  /**
   * Opens a channel to the other processes. A message may be lost when a process exits.
   * @param name unique; call it once
   * @param receive called with the messages of the others; the worker is 0 for the primary
   * @returns sends a message to the others
   */
  channel<Message>(
    name: string,
    receive: (message: Message, worker: number) => void,
  ): (message: Message) => void;
  /** Connects to a service that one process runs for all; call it once for each service. */
  connect<Client>(service: SharedService<Client>): Client;
}

/** What one process decides for all processes of the host: the primary, or the only process. */
export interface SharedService<Client> {
  readonly name: string;
  /** Creates the service of a host with one process. */
  createLocal(context: ProcessContext): Client;
  /**
   * Creates the client of a worker.
   * @param start the `start` of the primary's part
   */
  createClient(link: PrimaryLink, start: unknown, context: ProcessContext): Client;
  createPrimary(context: PrimaryContext): PrimaryPart;
}

/** The connection of a service in a worker to its part in the primary. */
export interface PrimaryLink {
  /** Returns at once. Messages arrive in their order. */
  send(message: unknown): void;
  /** Resolves when the message has been written. */
  sendLast(message: unknown): Promise<void>;
  /**
   * @param createError creates the error when no answer arrives within 10 s
   * @param onLate called with an answer that arrives afterwards
   */
  ask<Answer>(
    question: unknown,
    createError: () => Error,
    onLate?: (answer: Answer) => void,
  ): Promise<Answer>;
  /** Called with what the primary's part announces. */
  onAnnouncement(listener: (message: unknown) => void): void;
}

export interface PrimaryContext extends ProcessContext {
  readonly workers: number;
  /** Sends a message to all workers, or to all but one. */
  announce(message: unknown, except?: number): void;
}

/** The worker that a message or a question comes from. */
export interface MessageSource {
  readonly id: number;
  readonly hasExited: boolean;
}

/** The part of a service in the primary. */
export interface PrimaryPart {
  /**
   * The data with which the client of a new worker starts.
   * @param worker `isSuccessor`: it replaces a worker that still serves
   */
  start?(worker: { readonly isSuccessor: boolean }): unknown;
  receive?(message: unknown, from: MessageSource): void | Promise<void>;
  answer?(question: unknown, from: MessageSource): unknown;
  onExit?(worker: number): void;
  onServing?(workers: readonly number[]): void;
  /** Whether a new worker may listen. Default: true. */
  isReady?(worker: number): boolean;
  /** Called with the answer of a worker on the subject with the name of the service. */
  observe?(worker: number, answer: unknown): void;
  /** What it adds to the answers on that subject, once all of them have been observed. */
  contribute?(): unknown;
  /** Resolves when all pending writes are done. */
  flush?(): Promise<void>;
}

export function createSoleProcess(context: ProcessContext): Processes {
  return {
    leadership: SOLE_LEADER,
    requestLog: context.log,
    unreadyReason: () => null,
    share: (_subject, answer) => async (input) => ({
      answers: [{ worker: 0, isServing: true, answer: await answer(input) }],
      workers: 1,
      known: null,
    }),
    channel: () => () => {},
    connect: (service) => service.createLocal(context),
  };
}
