/** What runs in the thread of a module: it imports the file, and answers what the host asks over a port. */
import { type MessagePort, parentPort, type Transferable, workerData } from 'node:worker_threads';
import type { Invocation, Operation, Outcome } from '../../core/contract/index.js';
import type { LocalModule } from './handler.js';
import { importInThread } from './import-module.js';
import { createLocalProvider } from './provider.js';
import { copyToSend } from './sent-bytes.js';
import { receiveFailure, sendFailure } from './sent-failure.js';
import { ThreadLog } from './thread-log.js';
import type {
  HostMessage,
  SentInvocation,
  SentManifest,
  ThreadMessage,
  ThreadStart,
} from './thread-messages.js';

// Not `parentPort` itself and not `workerData`, which the module could reach as well.
parentPort?.once('message', (port: MessagePort) => void serve(port, workerData as ThreadStart));

async function serve(port: MessagePort, start: ThreadStart): Promise<void> {
  const post = (message: ThreadMessage, handedOver: Transferable[] = []) =>
    port.postMessage(message, handedOver);
  // A top level that waits for ever is the host's to end; without this the thread would end by itself.
  port.ref();
  let module: LocalModule;
  try {
    module = await importInThread(start.name, start.path);
    if (start.configuration !== null) await module.configure?.(start.configuration);
  } catch (error) {
    post({ kind: 'refused', message: describe(error) });
    return;
  }
  const log = new ThreadLog(post);
  const provider = createLocalProvider(module, {
    log,
    ...(start.stateDir !== undefined && { stateDir: start.stateDir }),
  });
  const calls = new Map<number, AbortController>();

  const answer = async (call: number, invocation: SentInvocation) => {
    const controller = new AbortController();
    calls.set(call, controller);
    try {
      const outcome = await provider.invoke(receive(invocation, controller.signal));
      if (controller.signal.aborted) return;
      const handedOver: Transferable[] = [];
      post({ kind: 'answer', call, outcome: copyOutcome(outcome, handedOver) }, handedOver);
    } catch (error) {
      // Nobody waits for a call that was taken back.
      if (!controller.signal.aborted) post({ kind: 'failure', call, failure: sendFailure(error) });
    } finally {
      calls.delete(call);
    }
  };

  port.on('message', (message: HostMessage) => {
    switch (message.kind) {
      case 'call':
        // It catches all that it may throw.
        void answer(message.call, message.invocation);
        return;
      case 'abort':
        post({ kind: 'alive' });
        calls.get(message.call)?.abort(receiveFailure(message.failure));
        return;
      case 'logged':
        log.forget(message.lines);
        return;
      case 'close':
        void close(module).then((error) => post({ kind: 'closed', error }));
    }
  });
  post({ kind: 'ready', manifest: await readManifest(provider.manifest) });
}

function receive({ operation, ...rest }: SentInvocation, signal: AbortSignal): Invocation {
  return { ...rest, operation: receiveOperation(operation), signal };
}

/** A prototype is what the way here adds, and a parameter may be called `constructor`. */
function receiveOperation(operation: Operation): Operation {
  if (operation.kind !== 'http_route') return operation;
  const pathParams = Object.assign(Object.create(null), operation.pathParams);
  return { ...operation, pathParams };
}

function copyOutcome({ status, headers, body }: Outcome, handedOver: Transferable[]): Outcome {
  return { status, headers, body: body === null ? null : copyToSend(body, handedOver) };
}

async function readManifest(ask: (signal: AbortSignal) => Promise<unknown>): Promise<SentManifest> {
  try {
    return { value: await ask(new AbortController().signal) };
  } catch (error) {
    return { failure: sendFailure(error) };
  }
}

async function close(module: LocalModule): Promise<string | null> {
  try {
    await module.close?.();
    return null;
  } catch (error) {
    return describe(error);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}
