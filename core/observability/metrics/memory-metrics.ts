import { type CollectedMetric, readCounts, readValue } from './collected-metric.js';

interface ObservedMemory {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly rejected: { readonly memory: number; readonly actor: number };
}

/** The metrics of the memory budget. */
export function createMemoryMetrics(memory: ObservedMemory): CollectedMetric[] {
  return [
    {
      name: 'modgate_held_bytes',
      help: 'Bytes of request bodies, and of responses that have not left completely.',
      type: 'gauge',
      aggregator: 'sum',
      read: () => readValue(memory.bytes),
    },
    {
      name: 'modgate_memory_budget_bytes',
      help: 'The memory budget, which limits modgate_held_bytes.',
      type: 'gauge',
      aggregator: 'sum',
      read: () => readValue(memory.maxBytes),
    },
    {
      name: 'modgate_memory_rejected_total',
      help: 'Requests rejected by a memory budget: of the host (memory), or of their actor.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readCounts('budget', memory.rejected),
    },
  ];
}
