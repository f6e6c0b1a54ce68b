import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { LONG_FILES } from './long-files.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/**
 * The order of test files: what failed last time, then what took longest. vitest goes by the size of files of which it
 * knows no last time, as in a fresh clone or in CI; here the files that are known to be long go before them, so that
 * none of them runs alone in the end.
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
