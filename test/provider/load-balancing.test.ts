import { expect } from 'chai';
import fc from 'fast-check';
import { BALANCING_STRATEGIES, type Balancing } from '../../core/contract/index.js';
import { VERDICTS } from '../../core/provider/circuit-breaker.js';
import { Endpoint } from '../../core/provider/endpoint.js';
import { EndpointPool } from '../../core/provider/endpoint-pool.js';
import { SILENT_LOG } from '../support/provider/fake-module.js';

const FAR_MS = 3_600_000;
const BREAKER = {
  failures: 1,
  ratio: 0.5,
  window_ms: FAR_MS,
  open_ms: FAR_MS,
  max_open_ms: FAR_MS,
};
const ROUTE = 'GET /a';
const CALL = { route: ROUTE };

function createEndpoints(weights: Readonly<Record<string, number>>): Endpoint[] {
  return Object.entries(weights).map(
    ([id, weight]) =>
      new Endpoint({
        id,
        weight,
        name: id,
        breaker: BREAKER,
        log: SILENT_LOG,
      }),
  );
}

function createSet(
  strategy: Balancing['strategy'],
  weights: Readonly<Record<string, number>>,
): EndpointPool {
  return new EndpointPool(createEndpoints(weights), strategy);
}

const find = (set: EndpointPool, id: string): Endpoint => {
  const endpoint = set.all.find((entry) => entry.id === id);
  return endpoint ?? expect.fail(`there is no endpoint ${id}`);
};
const open = (endpoint: Endpoint) => endpoint.end(endpoint.begin(ROUTE), VERDICTS.unreachable);
const openRoute = (endpoint: Endpoint, route: string) =>
  endpoint.end(endpoint.begin(route), VERDICTS.serverError);
const choose = (set: EndpointPool, key: string | null = null, tried: readonly Endpoint[] = []) =>
  set.choose(CALL, key, tried)?.id ?? null;
const chooseMany = (set: EndpointPool, times: number) =>
  Array.from({ length: times }, () => choose(set));
const countOf = (chosen: readonly (string | null)[], id: string) =>
  chosen.filter((candidate) => candidate === id).length;

describe('load balancing', () => {
  describe('with priorities', () => {
    const create = () => {
      const set = createSet('round_robin', { a: 1, b: 1, c: 1 });
      find(set, 'c').priority = 1;
      set.replace(set.all);
      return set;
    };

    it('calls later priorities while no earlier endpoint is up with a closed breaker', () => {
      const set = create();
      expect(chooseMany(set, 4).join('')).to.equal('abab');
      open(find(set, 'a'));
      expect(chooseMany(set, 2).join('')).to.equal('bb');
      find(set, 'b').health.isUp = false;
      expect(chooseMany(set, 2).join('')).to.equal('cc');
      find(set, 'b').health.isUp = true;
      expect(chooseMany(set, 2).join('')).to.equal('bb');
    });

    it('tries all endpoints while no endpoint is up', () => {
      const set = create();
      for (const endpoint of set.all) endpoint.health.isUp = false;
      expect(chooseMany(set, 3).sort().join('')).to.equal('abc');
    });

    it('calls the later ones for a route whose breaker is open', () => {
      const set = create();
      openRoute(find(set, 'a'), ROUTE);
      openRoute(find(set, 'b'), ROUTE);
      expect(choose(set)).to.equal('c');
      expect(set.choose({ route: 'GET /b' }, null, [])?.id).to.be.oneOf(['a', 'b']);
    });
  });

  describe('by round robin', () => {
    it('takes turns', () => {
      const set = createSet('round_robin', { a: 1, b: 1, c: 1 });
      expect(chooseMany(set, 6).join('')).to.equal('abcabc');
    });

    it('interleaves endpoints by weight', () => {
      const set = createSet('round_robin', { a: 5, b: 1, c: 1 });
      expect(chooseMany(set, 14).join('')).to.equal('aabacaaaabacaa');
    });

    it('is exact over each round, whatever the weights', () => {
      const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });
      fc.assert(
        fc.property(weights, (weights) => {
          const weightsByName = Object.fromEntries(
            weights.map((weight, index) => [`e${index}`, weight]),
          );
          const set = createSet('round_robin', weightsByName);
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          const chosen = chooseMany(set, total);
          for (const [id, weight] of Object.entries(weightsByName)) {
            expect(countOf(chosen, id)).to.equal(weight);
          }
        }),
      );
    });
  });

  describe('by least in flight', () => {
    it('chooses the endpoint with the fewest calls', () => {
      const set = createSet('least_in_flight', { a: 1, b: 1, c: 1 });
      find(set, 'a').counts.inFlight = 2;
      find(set, 'c').counts.inFlight = 1;
      expect(choose(set)).to.equal('b');
    });

    it('divides the calls by the weight', () => {
      const set = createSet('least_in_flight', { small: 1, big: 4 });
      find(set, 'small').counts.inFlight = 1;
      find(set, 'big').counts.inFlight = 3;
      expect(choose(set)).to.equal('big');
      find(set, 'big').counts.inFlight = 5;
      expect(choose(set)).to.equal('small');
    });

    it('takes turns by weight among equal endpoints', () => {
      const set = createSet('least_in_flight', { a: 3, b: 1 });
      expect(countOf(chooseMany(set, 40), 'a')).to.equal(30);
    });

    it('distributes long calls in proportion to the weights', () => {
      const set = createSet('least_in_flight', { a: 1, b: 2, c: 5 });
      for (let call = 0; call < 80; call += 1) set.choose(CALL, null, [])?.begin(ROUTE);
      expect(set.all.map(({ inFlight }) => inFlight)).to.deep.equal([10, 20, 50]);
    });
  });

  describe('by consistent hash', () => {
    const ids = Array.from({ length: 8 }, (_, index) => `http://10.0.0.${index}:8080`);
    const even = Object.fromEntries(ids.map((id) => [id, 1]));
    const keys = Array.from({ length: 20_000 }, (_, index) => `tenant-${index}`);

    it('maps a key to one endpoint', () => {
      const set = createSet('consistent_hash', even);
      const again = createSet('consistent_hash', even);
      for (const key of keys.slice(0, 200)) expect(choose(set, key)).to.equal(choose(again, key));
    });

    it('spreads keys by weight', () => {
      const weights = Object.fromEntries(ids.map((id, index) => [id, 1 + (index % 4)]));
      const set = createSet('consistent_hash', weights);
      const chosen = keys.map((key) => choose(set, key));
      const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
      for (const [id, weight] of Object.entries(weights)) {
        // Four standard deviations of a share of 1/20 of 20,000 keys are about 12 % of it.
        const expected = (keys.length * weight) / total;
        expect(countOf(chosen, id)).to.be.within(expected * 0.85, expected * 1.15);
      }
    });

    it('moves only the keys of a removed endpoint, and spreads them', () => {
      const set = createSet('consistent_hash', even);
      const before = keys.map((key) => choose(set, key));
      const [gone = ''] = ids;
      open(find(set, gone));
      const after = keys.map((key) => choose(set, key));
      const moved = after.filter((id, index) => {
        if (before[index] !== gone) expect(id).to.equal(before[index]);
        return before[index] === gone;
      });
      for (const id of ids.slice(1)) {
        expect(countOf(moved, id)).to.be.within(moved.length / 14, moved.length / 3.5);
      }
    });

    it('takes turns for calls without a key', () => {
      const set = createSet('consistent_hash', { a: 1, b: 1 });
      expect(chooseMany(set, 4).join('')).to.equal('abab');
    });

    it('chooses the next endpoint of the key for a retry', () => {
      const set = createSet('consistent_hash', even);
      for (const key of keys.slice(0, 50)) {
        const first = set.choose(CALL, key, []) ?? expect.fail();
        const second = choose(set, key, [first]);
        expect(second).not.to.equal(first.id);
        expect(choose(set, key, [first])).to.equal(second);
      }
    });
  });

  for (const strategy of BALANCING_STRATEGIES) {
    describe(`by ${strategy}, with failed endpoints`, () => {
      const key = 'tenant-1';

      it('skips endpoints with an open breaker', () => {
        const set = createSet(strategy, { a: 1, b: 1, c: 1 });
        open(find(set, 'b'));
        expect(chooseMany(set, 6)).not.to.include('b');
        expect(choose(set, key)).not.to.equal('b');
      });

      it('chooses no endpoint when every breaker is open', () => {
        const set = createSet(strategy, { a: 1, b: 1 });
        for (const endpoint of set.all) open(endpoint);
        expect(choose(set, key)).to.equal(null);
        expect(set.isAdmitting(CALL)).to.equal(false);
        expect(set.waitMs({ ...CALL, isRepeatable: true })).to.be.within(1, FAR_MS);
      });

      it('skips an endpoint for a route whose breaker is open there', () => {
        const set = createSet(strategy, { a: 1, b: 1, c: 1 });
        openRoute(find(set, 'b'), ROUTE);
        openRoute(find(set, 'c'), 'GET /other');
        const chosen = chooseMany(set, 6);
        expect(chosen).not.to.include('b');
        if (strategy !== 'least_in_flight') expect(chosen).to.include('c');
      });

      it('skips endpoints that are down', () => {
        const set = createSet(strategy, { a: 1, b: 1, c: 1 });
        find(set, 'a').health.isUp = false;
        expect(chooseMany(set, 6)).not.to.include('a');
      });

      it('tries all endpoints when all are down', () => {
        const set = createSet(strategy, { a: 1, b: 1, c: 1 });
        for (const endpoint of set.all) endpoint.health.isUp = false;
        expect(new Set(chooseMany(set, 6))).to.have.property('size', 3);
      });

      it('tries an endpoint that is down when the breakers of the others are open', () => {
        const set = createSet(strategy, { a: 1, b: 1 });
        find(set, 'a').health.isUp = false;
        open(find(set, 'b'));
        expect(choose(set, key)).to.equal('a');
      });

      it('chooses another endpoint for a retry, if there is one', () => {
        const set = createSet(strategy, { a: 1, b: 1 });
        const [a, b] = [find(set, 'a'), find(set, 'b')];
        expect(choose(set, key, [a])).to.equal('b');
        expect(choose(set, key, [b])).to.equal('a');
        expect(choose(set, key, [a, b])).to.be.oneOf(['a', 'b']);
        open(b);
        expect(choose(set, key, [a])).to.equal('a');
      });
    });
  }
});
