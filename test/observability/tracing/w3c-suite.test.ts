import { expect } from 'chai';
import { headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/observability/otlp-receiver.js';
import {
  callItem,
  readTraceparent,
  startTracedHost,
} from '../../support/observability/traced-host.js';
import { readOutside } from '../../support/outside.js';
import type { RunningHost } from '../../support/start-host.js';

interface Forwarded {
  readonly trace: string;
  readonly parent: string;
  readonly flags: string;
  readonly state: readonly string[];
}

interface Assertion {
  readonly op: 'eq' | 'ne' | 'has' | 'lacks' | 'member' | 'len' | 'samelen' | 'order' | 'bit';
  readonly req: number;
  readonly what: 'trace' | 'parent' | 'state';
  readonly key: string;
  readonly value: string | number;
  readonly any: readonly string[];
  readonly a: string | number;
  readonly b: string | number;
  readonly n: number;
}

interface Case {
  readonly name: string;
  readonly requests: readonly (readonly RawHeader[])[];
  readonly asserts: readonly Assertion[];
}

const CASES = readOutside<readonly Case[]>('trace-context.json.gz');

for (const [title, environment] of [
  ['without traces', () => ({})],
  ['with traces', (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url })],
] as const) {
  describe(`W3C trace context suite ${title}`, () => {
    let receiver: OtlpReceiver;
    let provider: EchoProvider;
    let host: RunningHost;

    before(async function () {
      if (CASES === null) return this.skip();
      receiver = await startOtlpReceiver();
      provider = await startEchoProvider();
      host = await startTracedHost(provider.url, environment(receiver.url));
    });

    after(async () => {
      if (CASES === null) return;
      await host.stop();
      await provider.close();
      await receiver.close();
    });

    const forward = async (headers: readonly RawHeader[]): Promise<Forwarded> => {
      provider.reset();
      await callItem(host, headers);
      const received = provider.only().headers;
      const [trace, parent, flags] = readTraceparent(received);
      const state = headerValues(received, 'tracestate')
        .flatMap((value) => value.split(','))
        .map((member) => member.trim())
        .filter((member) => member !== '');
      return { trace, parent, flags, state };
    };

    if (CASES === null) it('is not run: its data was not found');

    for (const { name, requests, asserts } of CASES ?? []) {
      it(`passes ${name}`, async () => {
        const forwarded: Forwarded[] = [];
        for (const headers of requests) forwarded.push(await forward(headers));
        for (const assertion of asserts) check(assertion, forwarded);
      });
    }
  });
}

function check(assertion: Assertion, forwarded: readonly Forwarded[]): void {
  const { op, what, key, value } = assertion;
  const text = JSON.stringify(assertion);
  const at = (index: string | number) => forwarded[Number(index)] as Forwarded;
  if (op === 'samelen') {
    expect(at(assertion.a).state.length, text).to.equal(at(assertion.b).state.length);
    return;
  }
  const { state, flags, ...ids } = at(assertion.req);
  const values = new Map(state.map((member) => splitMember(member)));
  if (op === 'has') expect(values.has(key), text).to.equal(true);
  else if (op === 'lacks') expect(values.has(key), text).to.equal(false);
  else if (op === 'len') expect(state.length, text).to.equal(value);
  else if (op === 'bit')
    expect(Number.parseInt(flags, 16) & assertion.n, text).to.equal(assertion.n);
  else if (op === 'member')
    expect(
      assertion.any.some((member) => state.includes(member)),
      text,
    ).to.equal(true);
  else if (op === 'order') {
    expect(state.indexOf(String(assertion.a)), text).to.be.lessThan(
      state.indexOf(String(assertion.b)),
    );
  } else {
    const actual = what === 'state' ? values.get(key)?.trim() : ids[what];
    if (op === 'eq') expect(actual, text).to.equal(String(value).trim());
    else expect(actual, text).not.to.equal(value);
  }
}

function splitMember(member: string): readonly [string, string] {
  const at = member.indexOf('=');
  return [member.slice(0, at), member.slice(at + 1)];
}
