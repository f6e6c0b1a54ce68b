import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { renderOpenApi } from '@spout/server'
import { renderAnnouncers } from './announcers.ts'
import { renderDocumentSchema } from './document-schema.ts'
import { renderErrors } from './errors.ts'
import { renderFindings } from './findings.ts'
import { renderIngressNginx } from './ingress-nginx.ts'
import { renderMetrics } from './metrics.ts'

/** The generated pages of docs/reference/, with their generators. */
const PAGES: Readonly<Record<string, () => string>> = {
  'announcers.md': renderAnnouncers,
  'errors.md': renderErrors,
  'findings.md': renderFindings,
  'ingress-nginx.md': renderIngressNginx,
  'load-balancer.schema.json': renderDocumentSchema,
  'metrics.md': renderMetrics,
  'openapi.json': renderOpenApi,
}

const pagePath = (root: string, page: string): string => path.join(root, 'docs', 'reference', page)

export function writeReference(root: string): void {
  mkdirSync(path.join(root, 'docs', 'reference'), { recursive: true })
  for (const [page, render] of Object.entries(PAGES)) writeFileSync(pagePath(root, page), render())
}

/** Pages that differ from their generated text. */
export const staleReference = (root: string): readonly string[] =>
  Object.entries(PAGES)
    .filter(([page, render]) => {
      try {
        return readFileSync(pagePath(root, page), 'utf8') !== render()
      } catch {
        return true
      }
    })
    .map(([page]) => `docs/reference/${page}`)
