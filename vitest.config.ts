import { defineConfig } from 'vitest/config'

// Four projects, fastest first. `unit` does no I/O beyond temporary files; `contract` runs each contract's suite over
// every implementation with real engines; `lab` needs root and network namespaces; `e2e` starts the whole system.
const project = (name: string, include: string[], testTimeout: number, maxWorkers: number) => ({
  test: { name, include, testTimeout, hookTimeout: 120_000, maxWorkers, exclude: ['**/node_modules/**'] },
})

export default defineConfig({
  test: {
    pool: 'threads',
    projects: [
      {
        test: {
          ...project(
            'unit',
            ['packages/**/src/**/*.test.ts', 'apps/**/src/**/*.test.ts', 'tools/**/*.test.ts'],
            20_000,
            2,
          ).test,
          exclude: ['**/node_modules/**', '**/*.contract.test.ts', '**/*.lab.test.ts', '**/*.e2e.test.ts'],
          isolate: false,
        },
      },
      project('contract', ['{packages,apps}/**/src/**/*.contract.test.ts'], 120_000, 2),
      project('lab', ['{packages,apps}/**/src/**/*.lab.test.ts'], 120_000, 3),
      project('e2e', ['e2e/**/*.e2e.test.ts'], 300_000, 1),
    ],
  },
})
