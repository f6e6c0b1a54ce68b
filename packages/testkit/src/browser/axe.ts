import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** How axe weighs its findings: what is less than serious is left to people. */
const GRAVE: readonly string[] = ['serious', 'critical']

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly help: string
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
  }[]
}

/**
 * What keeps people with a screen reader, a keyboard or weak eyes from using the page as it is now, contrast included:
 * a line for each element.
 */
export const barriers = (page: Page): Promise<readonly string[]> => findings(page, '{}')

/** Texts without enough contrast, alone: all that another colour scheme can change. */
export const paleTexts = (page: Page): Promise<readonly string[]> => findings(page, `{ runOnly: ['color-contrast'] }`)

async function findings(page: Page, options: string): Promise<readonly string[]> {
  // Evaluated by the debugger, which the page's policy does not restrict.
  await page.evaluate(`if (!globalThis.axe) { ${axe.source} }`)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ['violations'], ...${options} })`,
  )
  return violations
    .filter(({ impact }) => GRAVE.includes(impact ?? ''))
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${detail(failureSummary)}`),
    )
}

/** The first finding of a summary, which begins with a headline. */
const detail = (summary: string): string => summary.split('\n').at(1)?.trim() ?? ''
