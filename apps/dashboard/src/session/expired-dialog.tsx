import { Dialog } from '../parts/dialog.tsx'
import { Name } from '../parts/name.tsx'
import { LoginForm } from './login-form.tsx'
import type { PageSession } from './page-session.ts'
import { ProviderElsewhere } from './provider-elsewhere.tsx'

/** Logs in again above the page, which keeps what was typed. */
export const ExpiredDialog = ({ session }: { readonly session: PageSession }) => (
  <Dialog title="Log in again" isOpen>
    <p>
      Your session has ended. What you typed is still there if you log in as <Name of={session.userName} />.
    </p>
    <LoginForm projectId={session.projectId ?? undefined} userName={session.userName} />
    <ProviderElsewhere />
  </Dialog>
)
