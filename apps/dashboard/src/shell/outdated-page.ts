/** Whether the served document starts another script than the open page: then it is of another build. */
export const isOfAnotherBuild = (script: string, served: string): boolean => !served.includes(`"${script}"`)

/**
 * After an upgrade the control plane has no files of the former build, and an open page may not have loaded all of them
 * yet. It then loads itself anew; the URL says what it shows. While nobody answers, it stays as it is.
 */
export function reloadAfterUpgrade(): void {
  const script = document.querySelector('script[type=module]')?.getAttribute('src')
  if (script == null) return
  addEventListener('vite:preloadError', () => {
    void fetch(import.meta.env.BASE_URL, { cache: 'no-store' })
      .then((answer) => (answer.ok ? answer.text() : null))
      .then((served) => {
        if (served !== null && isOfAnotherBuild(script, served)) location.reload()
      })
      .catch(() => {})
  })
}
