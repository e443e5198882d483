import type { Manifest } from '../manifest.js';
import type { ModuleStatus } from '../types.js';

export interface TabProps {
  readonly module: ModuleStatus;
  readonly manifest: Manifest;
}
