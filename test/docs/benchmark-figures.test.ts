import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Results {
  readonly scenarios: readonly {
    readonly name: string;
    readonly systems: Readonly<
      Record<string, { readonly cpuMicroseconds: { readonly median: number } }>
    >;
  }[];
}

const { scenarios } = JSON.parse(readFileSync('docs/bench/results.json', 'utf8')) as Results;

const SMALL = 'GET 100 B, 32 connections';
const CROWDED = 'GET 100 B, 256 connections';
const MEDIUM = 'GET 64 KiB, 32 connections';
const LARGE = 'GET 1 MiB, 32 connections';
const LARGE_POST = 'POST 1 MiB, 32 connections';
const FASTIFY = 'fastify-http-proxy';

/** CPU time per request of the host process. Microseconds. */
function cpu(scenario: string, system = 'modgate'): number {
  const measured = scenarios.find(({ name }) => name === scenario)?.systems[system];
  if (measured === undefined) throw new Error(`no result of ${system} for ${scenario}`);
  return measured.cpuMicroseconds.median;
}

const ratio = (scenario: string, system: string, digits: number) =>
  (cpu(scenario) / cpu(scenario, system)).toFixed(digits);
const share = (scenario: string, system: string) =>
  (cpu(scenario, system) / cpu(scenario)).toFixed(2);
const micros = (scenario: string, system?: string) => cpu(scenario, system).toFixed(0);
const millis = (scenario: string, system?: string) => (cpu(scenario, system) / 1000).toFixed(1);

/** Each contains every figure of its sentence or row that the bench of requests measures. */
const CLAIMS: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    `a small GET takes ${micros(SMALL)} µs of CPU time: ${ratio(SMALL, 'nginx', 1)} times that of nginx and ${ratio(SMALL, FASTIFY, 1)} times that of \`@fastify/http-proxy\`.`,
    `A GET of 1 MiB takes ${ratio(LARGE, 'nginx', 1)} and ${ratio(LARGE, FASTIFY, 1)} times as much.`,
    `| **Node.js; a small GET takes ${ratio(SMALL, 'nginx', 1)} × the CPU time of nginx** |`,
    `| Node.js; ${share(SMALL, FASTIFY)} × the CPU time for a small GET, ${share(LARGE, FASTIFY)} × for 1 MiB |`,
  ],
  'docs/benchmarks.md': [
    `| ${ratio(SMALL, FASTIFY, 2)} (${micros(SMALL)} and ${micros(SMALL, FASTIFY)} µs) |`,
    `| ${ratio(SMALL, 'bare', 2)} (${micros(SMALL, 'bare')} µs) |`,
    `| ${ratio(SMALL, 'nginx', 1)} (${Math.round(cpu(SMALL, 'nginx') * 10) / 10} µs); ${ratio(CROWDED, 'nginx', 1)} with 256 connections |`,
    `| ${ratio(MEDIUM, FASTIFY, 2)} (${micros(MEDIUM)} and ${micros(MEDIUM, FASTIFY)} µs) |`,
    `| ${ratio(LARGE, FASTIFY, 2)} (${millis(LARGE)} and ${millis(LARGE, FASTIFY)} ms), but ${ratio(LARGE, 'bare', 1)} × bare; POST 1 MiB ${ratio(LARGE_POST, FASTIFY, 1)} |`,
  ],
};

/** Figures of speed, wherever they stand. */
const FIGURE = /\d[\d.]* (?:µs|times|×)/g;

describe('the figures of speed', () => {
  for (const [page, claims] of Object.entries(CLAIMS)) {
    const text = readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
    for (const claim of claims) {
      it(`in ${page} are those of the results: ${claim}`, () => {
        expect(text).to.include(claim);
      });
    }
  }

  it('in the README are all compared', () => {
    const text = readFileSync('README.md', 'utf8').replaceAll(/\s+/g, ' ');
    const compared = (CLAIMS['README.md'] ?? []).join(' ').match(FIGURE) ?? [];
    expect(text.match(FIGURE)).to.have.members(compared);
  });
});
