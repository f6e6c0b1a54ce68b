import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { LONG_FILES } from './long-files.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/**
 * Orders test files: first those that failed last time, then those that took longest. Where no last time is known, as in
 * a fresh clone or in CI, it takes the times of `LONG_FILES`, so that no long file runs alone at the end. The other
 * files stay in vitest's order, by size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const lastTime = (file: TestSpecification) => this.ctx.cache.getTestSpecificationResult(file)
    const failed = (file: TestSpecification) => Number(lastTime(file)?.failed ?? false)
    const ms = (file: TestSpecification) =>
      lastTime(file)?.duration ?? 1000 * (LONG_FILES.get(path.relative(ROOT, file.moduleId)) ?? 0)
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...projects.values()].flatMap((own) => own.toSorted((a, b) => failed(b) - failed(a) || ms(b) - ms(a)))
  }
}
