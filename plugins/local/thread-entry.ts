/** What runs in the thread of a module: it imports the file, and answers what the host asks over a port. */
import { type MessagePort, parentPort, type Transferable, workerData } from 'node:worker_threads';
import type { LocalOutcome } from './answer.js';
import type { LocalModule } from './handler.js';
import { importInThread } from './import-module.js';
import { createLocalRunner } from './local-runner.js';
import { sendBytes } from './sent-bytes.js';
import { receiveFailure, sendFailure } from './sent-failure.js';
import { ThreadCall } from './thread-call.js';
import { ThreadLog } from './thread-log.js';
import type {
  HostMessage,
  SentManifest,
  SentOutcome,
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
  const runner = createLocalRunner(module, {
    log,
    ...(start.stateDir !== undefined && { stateDir: start.stateDir }),
  });
  const calls = new Map<number, ThreadCall>();

  const answer = async (call: ThreadCall) => {
    const { number } = call;
    calls.set(number, call);
    try {
      const outcome = await runner.run(call);
      if (call.isTakenBack) return;
      const handedOver: Transferable[] = [];
      post({ kind: 'answer', call: number, outcome: sendOutcome(outcome, handedOver) }, handedOver);
    } catch (error) {
      // Nobody waits for a call that was taken back.
      if (!call.isTakenBack) post({ kind: 'failure', call: number, failure: sendFailure(error) });
    } finally {
      calls.delete(number);
    }
  };

  port.on('message', (message: HostMessage) => {
    switch (message.kind) {
      case 'call':
        // It catches all that it may throw.
        void answer(new ThreadCall(message.call, message.invocation));
        return;
      case 'abort':
        post({ kind: 'alive' });
        calls.get(message.call)?.takeBack(receiveFailure(message.failure));
        return;
      case 'logged':
        log.forget(message.lines);
        return;
      case 'close':
        void close(module).then((error) => post({ kind: 'closed', error }));
    }
  });
  post({ kind: 'ready', manifest: readManifest(runner.readManifest) });
}

function sendOutcome(
  { status, headers, body }: LocalOutcome,
  handedOver: Transferable[],
): SentOutcome {
  return { status, headers, body: body === null ? null : sendBytes(body, handedOver) };
}

function readManifest(read: () => unknown): SentManifest {
  try {
    return { value: read() };
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
  } finally {
    // The host ends the thread next, and with it what is still on its way to the log.
    await Promise.all([flush(process.stdout), flush(process.stderr)]);
  }
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}
