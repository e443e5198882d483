import type { Sample } from '../types.js';

const WIDTH = 600;
const HEIGHT = 140;
const PAD = 4;

interface Line {
  readonly label: string;
  readonly tone: 'main' | 'bad';
  readonly values: readonly number[];
}

/** Lines over the same times, with the last values in words below. */
export function LineChart({
  label,
  lines,
  times,
}: {
  label: string;
  lines: readonly Line[];
  times: readonly number[];
}) {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values));
  const [first = 0] = times;
  const last = times.at(-1) ?? first;
  const x = (at: number) => PAD + ((at - first) / Math.max(1, last - first)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - PAD - (value / most) * (HEIGHT - 2 * PAD - 8);
  const pathOf = (values: readonly number[]) =>
    values
      .map(
        (value, i) => `${i === 0 ? 'M' : 'L'}${x(times[i] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`,
      )
      .join('');
  const words = lines.map(
    ({ label: name, values }) => `${name}: ${format(values.at(-1) ?? 0)} now`,
  );
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${label}. ${words.join(', ')}`}
        preserveAspectRatio="none"
      >
        <line class="grid" x1={PAD} x2={WIDTH - PAD} y1={y(most)} y2={y(most)} />
        <line class="grid" x1={PAD} x2={WIDTH - PAD} y1={y(most / 2)} y2={y(most / 2)} />
        <line class="axis" x1={PAD} x2={WIDTH - PAD} y1={y(0)} y2={y(0)} />
        {lines.map(({ label: name, tone, values }) => (
          <g key={name} class={`line ${tone}`}>
            {tone === 'main' && values.length > 1 && (
              <path
                class="area"
                d={`${pathOf(values)}L${x(last).toFixed(1)} ${y(0)}L${x(first).toFixed(1)} ${y(0)}Z`}
              />
            )}
            <path class="stroke" d={pathOf(values)} />
          </g>
        ))}
      </svg>
      <span class="chart-top">{format(most)}</span>
      <figcaption>
        {lines.map(({ label: name, tone, values }) => (
          <span key={name} class={`legend ${tone}`}>
            {name} <b>{format(values.at(-1) ?? 0)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const SAMPLE_SECONDS = 10;

/** Requests and errors of the last 15 minutes, per second. */
export function RateChart({ samples }: { samples: readonly Sample[] }) {
  return (
    <LineChart
      label="Calls and failures per second in the last 15 minutes"
      times={samples.map(({ at }) => at)}
      lines={[
        {
          label: 'calls/s',
          tone: 'main',
          values: samples.map(({ calls }) => calls / SAMPLE_SECONDS),
        },
        {
          label: 'failed/s',
          tone: 'bad',
          values: samples.map(({ failed }) => failed / SAMPLE_SECONDS),
        },
      ]}
    />
  );
}

function format(value: number): string {
  if (value === 0) return '0';
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
