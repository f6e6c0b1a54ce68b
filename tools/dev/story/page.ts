import type { Account, SystemAccess } from '@spout/testkit'
import type { Teller } from './teller.ts'

/** Who may look at the web page of the running lab, the first one first. */
export interface ShownPage {
  readonly url: string
  readonly logins: readonly Pick<Account, 'user' | 'password' | 'project'>[]
}

export const pageOf = ({ endpoint, projects, admin }: SystemAccess): ShownPage => ({
  url: `${endpoint}/ui/`,
  logins: [...projects, admin].map(({ user, password, project }) => ({ user, password, project })),
})

/** Ends the story: where to look at it, and as whom. */
export function showPage({ url, logins }: ShownPage, teller: Teller): void {
  teller.heading('The web page')
  teller.answer(url)
  for (const { user, password, project } of logins)
    teller.answer(`user ${user}, password ${password}, project ${project}`)
}
