import {
  escapeLine,
  type FailureCode,
  type FailurePhase,
  ProviderFailure,
} from '../../core/contract/index.js';

const MAX_REASON_LENGTH = 200;

/** What a user may not do (AMQP 0-9-1, 1.8); RabbitMQ rejects virtual hosts with 530. */
const REFUSED_CODES: ReadonlySet<number> = new Set([403, 530]);
/** RabbitMQ closes the channel of a message that is over its `max_message_size`. */
const PRECONDITION_FAILED = 406;
/** The broker closes a channel with these for the message that it does not accept. */
const REJECTED_CODES: ReadonlySet<number> = new Set([403, 404, PRECONDITION_FAILED]);

/** The texts of the library for a close by the broker: `channel 1 closed: NOT_FOUND - no exchange 'x' (404)`. */
const CLOSED_BY_BROKER = /^(channel|connection)(?: \d+)? closed: (.*) \((\d{3})\)$/s;

/** Why a connection or a channel cannot be used. */
export class BrokerError extends Error {
  /** What has ended. */
  readonly scope: 'channel' | 'connection';
  /** The reply code of the broker; `null` if it did not close in order. */
  readonly code: number | null;

  constructor(
    message: string,
    scope: 'channel' | 'connection' = 'connection',
    code: number | null = null,
  ) {
    super(message);
    this.name = 'BrokerError';
    this.scope = scope;
    this.code = code;
  }

  /** Whether the broker closed the channel because of one message, which it did not accept. */
  get isForMessage(): boolean {
    return this.scope === 'channel' && REJECTED_CODES.has(this.code ?? 0);
  }

  get failure(): FailureCode {
    return REFUSED_CODES.has(this.code ?? 0) ? 'refused' : 'unavailable';
  }

  /** The failure of a call that was not sent, or whose message the broker did not accept. */
  toFailure(phase: FailurePhase): ProviderFailure {
    const failure = this.code === PRECONDITION_FAILED ? 'refused' : this.failure;
    return new ProviderFailure(failure, this.description, { phase });
  }

  /** The failure of a call that the broker may have queued. */
  toLoss(): ProviderFailure {
    return new ProviderFailure('unavailable', this.description);
  }

  /** In one line, for operators. */
  get description(): string {
    return this.scope === 'channel'
      ? `no channel: ${this.message}`
      : `no connection: ${this.message}`;
  }
}

export function parseReason(reason: string): BrokerError {
  const [, scope, text = '', code] = CLOSED_BY_BROKER.exec(reason) ?? [];
  if (scope === undefined) return new BrokerError(escapeReason(reason));
  return new BrokerError(escapeReason(text), scope as BrokerError['scope'], Number(code));
}

export function toBrokerError(error: unknown): BrokerError {
  return error instanceof BrokerError ? error : parseReason(describeError(error));
}

/** Errors of OpenSSL have a library and a reason: their message names lines of its source. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { library, reason } = error as { readonly library?: string; readonly reason?: string };
  return library === undefined ? error.message : `TLS: ${reason}`;
}

/** Texts of a broker may contain names that others chose. */
export function escapeReason(text: string): string {
  return escapeLine(text).slice(0, MAX_REASON_LENGTH);
}
