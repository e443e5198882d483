import type { Manifest, ModuleStatus } from '../types.js';

export interface TabProps {
  readonly module: ModuleStatus;
  readonly manifest: Manifest;
}
