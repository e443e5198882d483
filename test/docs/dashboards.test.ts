import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { call } from '../support/http/call.js';
import { useHost } from '../support/http/use-host.js';
import { type Exposition, scrape } from '../support/observability/exposition.js';
import { describeObserved } from '../support/observability/observed-modules.js';
import { describeOptionalMetrics } from '../support/observability/optional-metrics.js';

const FOLDER = new URL('../../../docs/dashboards/', import.meta.url);

interface Panel {
  readonly title: string;
  readonly id: number;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const readText = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
const dashboard = JSON.parse(readText('modgate.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
};
const { groups } = parse(readText('alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const panels = dashboard.panels.filter(({ targets }) => targets !== undefined);
const rules = groups.flatMap((group) => group.rules);

const METRIC = /\b((?:modgate|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;
const LABEL_OF_SELECTOR = /([a-z_]+)\s*(?:=~|!~|!=|=)/g;
const VALUES_OF_SELECTOR = /([a-z_]+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g;
/** Labels whose every value is exposed at all times. */
const CLOSED_LABELS = new Set(['state', 'percentile', 'result']);
const LABELS_OF_SAMPLES = /by \(([^)]*)\)/g;
const LABEL_OF_TEXT = /\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}/g;
/** Prometheus adds these itself. */
const LABELS_OF_SCRAPES = new Set(['instance', 'job']);

describe('the dashboard and the alert rules', () => {
  const setup = useHost(describeObserved);
  let exposed: Exposition;

  before(async () => {
    await call(setup.host, { target: '/modules/shop/http/items' });
    await call(setup.host, { target: '/modules/down/http/items' });
    await call(setup.host, { target: '/modules/strict/http/items' });
    await call(setup.host, { target: '/modules/kept/http/items' });
    await call(setup.host, { target: '/modules/shop/http/items', as: 'dev-user:a' });
    await call(setup.host, { target: '/docs' });
    exposed = await scrape(setup.host);
  });

  const labelsOf = (name: string): readonly string[] => {
    const optional = describeOptionalMetrics().find((metric) => metric.name === name);
    if (optional !== undefined) return optional.labels;
    const [first] = exposed.find(name);
    expect(first, `no sample of ${name}`).to.not.equal(undefined);
    return Object.keys(first?.labels ?? {});
  };

  /** Every name is exposed as it is written, and has the labels of the expression. */
  const judge = (expression: string, texts: readonly string[]) => {
    const labels = new Set<string>();
    const names = [...expression.matchAll(METRIC)];
    expect(names, expression).to.not.have.length(0);
    for (const [, name = '', selector = ''] of names) {
      const knownLabels = labelsOf(name);
      for (const label of knownLabels) labels.add(label);
      for (const [, label] of selector.replaceAll(/"[^"]*"/g, '').matchAll(LABEL_OF_SELECTOR)) {
        expect(knownLabels, `${label} in ${expression}`).to.include(label);
      }
    }
    const usedLabels = [
      ...[...expression.matchAll(LABELS_OF_SAMPLES)].flatMap(([, list = '']) => list.split(/, */)),
      ...texts.flatMap((text) => [...text.matchAll(LABEL_OF_TEXT)].map(([, label = '']) => label)),
    ];
    for (const label of usedLabels) {
      if (!LABELS_OF_SCRAPES.has(label)) expect([...labels], expression).to.include(label);
    }
  };

  for (const { title, targets = [] } of panels) {
    it(`query exposed metrics in the panel '${title}'`, () => {
      for (const { expr, legendFormat } of targets) judge(expr, [legendFormat]);
    });
  }

  for (const { alert, expr, annotations } of rules) {
    it(`query exposed metrics in the rule ${alert}`, () => {
      expect(annotations).to.have.all.keys('summary', 'description');
      judge(expr, Object.values(annotations));
    });
  }

  it('query values of existing labels', () => {
    const expressions = [...panels.flatMap(({ targets = [] }) => targets), ...rules];
    let judged = 0;
    for (const [, name = '', selector = ''] of expressions.flatMap(({ expr }) => [
      ...expr.matchAll(METRIC),
    ])) {
      for (const [, label = '', values = ''] of selector.matchAll(VALUES_OF_SELECTOR)) {
        if (!CLOSED_LABELS.has(label) || name.startsWith('modgate_tls_')) continue;
        const knownValues = exposed.find(name).map(({ labels }) => labels[label]);
        for (const value of values.split('|')) {
          judged += 1;
          expect(knownValues, `${name} ${label}`).to.include(value);
        }
      }
    }
    expect(judged).to.be.above(6);
  });

  it('show every metric of the host', () => {
    const expressions = [...panels.flatMap(({ targets = [] }) => targets), ...rules]
      .map(({ expr }) => expr)
      .join('\n');
    const ownMetrics = [...exposed.names].filter((name) => name.startsWith('modgate_'));
    expect(ownMetrics).to.have.length.above(12);
    for (const name of ownMetrics) expect(expressions).to.include(name);
  });

  it('have panels and rules with distinct names', () => {
    const lists = [dashboard.panels.map(({ id }) => String(id)), rules.map(({ alert }) => alert)];
    for (const list of lists) {
      expect(new Set(list).size).to.equal(list.length);
    }
    expect(dashboard.templating.list.map(({ query }) => query)).to.include(
      'label_values(modgate_module_state, module)',
    );
  });
});
