import type { Log } from '../contract/index.js';
import type {
  HostAnswers,
  Leadership,
  PrimaryLink,
  ProcessContext,
  Processes,
} from '../processes.js';
import type { WorkerStart } from './messages.js';
import { PendingAnswers } from './pending-answers.js';
import type { PrimaryChannel } from './primary-channel.js';

type Receive = (message: unknown, worker: number) => void;

/** The processes of a host, as one of its workers sees them. */
export function createWorkerProcess(
  channel: PrimaryChannel,
  { services }: WorkerStart,
  requestLog: Log,
  context: ProcessContext,
): Processes {
  const receivers = new Map<string, Receive>();
  const answers = new PendingAnswers<unknown>();
  channel.on('notice', ({ channel: name, message, worker }) =>
    receivers.get(name)?.(message, worker),
  );
  channel.on('answer', ({ id, answer }) => answers.settle(id, answer));
  const createLink = (service: string): PrimaryLink => ({
    send: (message) => channel.send({ type: 'message', service, message }),
    sendLast: (message) => channel.sendLast({ type: 'message', service, message }),
    ask: <Answer>(
      question: unknown,
      createError: () => Error,
      onLate: ((answer: Answer) => void) | null = null,
    ) =>
      // The part of the service answers with its own type.
      answers.ask(
        (id) => channel.send({ type: 'question', id, service, question }),
        createError,
        onLate as ((answer: unknown) => void) | null,
      ) as Promise<Answer>,
    onAnnouncement: (listener) => receivers.set(service, listener),
  });
  return {
    leadership: createLeadership(channel),
    requestLog,
    unreadyReason: () => (channel.phase === 'starting' ? 'not all workers have started' : null),
    share: <Input, Answer, Known>(
      subject: string,
      answer: (input: Input) => Answer | Promise<Answer>,
    ) => {
      channel.respond(subject, (input) => answer(input as Input));
      return async (input: Input) => {
        // Every worker answers with the type of the subject.
        const collected = (await channel.query(subject, input)) as HostAnswers<Answer, Known>;
        if (collected.answers.length > 0) return collected;
        try {
          const own = { worker: 0, isServing: true, answer: await answer(input) };
          return { ...collected, answers: [own], workers: Math.max(1, collected.workers) };
        } catch (error) {
          if (collected.known === null) throw error;
          return collected;
        }
      };
    },
    channel: <Message>(name: string, receive: (message: Message, worker: number) => void) => {
      receivers.set(name, receive as Receive);
      return (message: Message) => channel.send({ type: 'notice', channel: name, message });
    },
    connect: (service) =>
      service.createClient(createLink(service.name), services.get(service.name), context),
  };
}

function createLeadership(channel: PrimaryChannel): Leadership {
  let leads = false;
  const listeners = new Set<() => void>();
  channel.on('lead', (message) => {
    if (message.leads === leads) return;
    leads = message.leads;
    for (const listener of [...listeners]) listener();
  });
  return {
    get leads() {
      return leads;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
