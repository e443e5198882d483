import type { Sample } from '../types.js';
import { formatClock } from './format-time.js';
import { Empty } from './parts.js';

/** The size of the drawing, which is stretched to the available width. */
const WIDTH = 600;
const HEIGHT = 150;
const SPAN_MS = 15 * 60_000;
const SAMPLE_SECONDS = 10;
const MINUTE_MS = 60_000;

interface Line {
  readonly label: string;
  readonly tone: 'main' | 'bad';
  readonly values: readonly number[];
}

interface LineChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly format: (value: number) => string;
  /** The minimum range of the axis. */
  readonly atLeast: number;
}

/** Draws lines over the last 15 minutes, with labels on both axes. */
function LineChart({ title, lines, times, format, atLeast }: LineChartProps) {
  const end = times.at(-1) ?? 0;
  const top = roundUp(Math.max(atLeast, ...lines.flatMap(({ values }) => values)));
  const x = (time: number) => WIDTH - ((end - time) / SPAN_MS) * WIDTH;
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  const draw = (values: readonly number[]) =>
    values
      .map(
        (value, i) => `${i === 0 ? 'M' : 'L'}${x(times[i] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`,
      )
      .join('');
  const words = lines.map(({ label, values }) => describeLine(label, values, format));
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        {lines.map(({ label, tone, values }) => (
          <span key={label} class={`legend ${tone}`}>
            {label} <b>{format(values.at(-1) ?? 0)}</b>
          </span>
        ))}
      </figcaption>
      <div class="plot">
        <div class="y-axis" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{format(value)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={`${title}, last 15 minutes. ${words.join('. ')}`}
          preserveAspectRatio="none"
        >
          {[0, top / 2, top].map((value) => (
            <line key={value} class="grid-line" x1={0} x2={WIDTH} y1={y(value)} y2={y(value)} />
          ))}
          {lines.map(({ label, tone, values }) => (
            <g key={label} class={tone}>
              <path
                class="area"
                d={`${draw(values)}L${WIDTH} ${HEIGHT}L${x(times[0] ?? end).toFixed(1)} ${HEIGHT}Z`}
              />
              <path class="stroke" d={draw(values)} />
            </g>
          ))}
        </svg>
        <div class="x-axis" aria-hidden="true">
          {['15 min ago', '10', '5', 'now'].map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}

/** Shows calls and failures of the last 15 minutes: two charts, and their figures as a table. */
export function RateCharts({ samples }: { samples: readonly Sample[] }) {
  const [first] = samples;
  if (first === undefined)
    return (
      <Empty title="No figures yet">
        The host counts calls every 10 seconds. The first figures appear soon.
      </Empty>
    );
  // A sample covers the 10 seconds before it, so the line begins there.
  const points = [{ ...first, at: first.at - 1000 * SAMPLE_SECONDS }, ...samples];
  const times = points.map(({ at }) => at);
  const rates = points.map(({ calls }) => calls / SAMPLE_SECONDS);
  const shares = points.map(({ calls, failed }) => (calls === 0 ? 0 : (100 * failed) / calls));
  return (
    <>
      <div class="grid">
        <LineChart
          title="Calls per second"
          times={times}
          atLeast={1}
          format={formatRate}
          lines={[{ label: 'now', tone: 'main', values: rates }]}
        />
        <LineChart
          title="Failed calls"
          times={times}
          atLeast={1}
          format={(value) => `${formatRate(value)} %`}
          lines={[{ label: 'now', tone: 'bad', values: shares }]}
        />
      </div>
      <details>
        <summary>Figures by minute</summary>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Until</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {sumByMinute(samples).map(({ at, calls, failed }) => (
              <tr key={at}>
                <td>{formatClock(at)}</td>
                <td class="number">{calls.toLocaleString('en')}</td>
                <td class="number">{failed.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

/** Newest first. */
function sumByMinute(samples: readonly Sample[]) {
  const newest = samples.at(-1)?.at ?? 0;
  const minutes = Map.groupBy(samples, ({ at }) => Math.floor((newest - at) / MINUTE_MS));
  return [...minutes.values()].reverse().map((list) => ({
    at: list.at(-1)?.at ?? 0,
    calls: list.reduce((sum, { calls }) => sum + calls, 0),
    failed: list.reduce((sum, { failed }) => sum + failed, 0),
  }));
}

function describeLine(
  label: string,
  values: readonly number[],
  format: (value: number) => string,
): string {
  return `${format(values.at(-1) ?? 0)} ${label}, ${format(Math.max(0, ...values))} at most`;
}

/** Returns the next of 1, 2, 5, 10, 20, … for a readable scale. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}

function formatRate(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
