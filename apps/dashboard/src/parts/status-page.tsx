import { ButtonLink } from './button.tsx'
import { Page } from './page.tsx'
import styles from './status-page.module.css'

/** For a page that the session's roles do not allow. */
export const ForbiddenPage = ({ reason }: { readonly reason?: string }) => (
  <Page title="Not allowed">
    <p className={styles.reason}>
      <bdi>{reason ?? 'Your role in this project does not allow this page.'}</bdi> Switch to another project above, or
      ask its administrator for a role.
    </p>
    <BackToStart />
  </Page>
)

export const NotFoundPage = ({ reason }: { readonly reason?: string }) => (
  <Page title="Not found">
    <p className={styles.reason}>
      <bdi>{reason ?? 'There is no page with this address.'}</bdi> It may have been deleted, or belong to another
      project.
    </p>
    <BackToStart />
  </Page>
)

const BackToStart = () => (
  <p>
    <ButtonLink to="/load-balancers">To the load balancers</ButtonLink>
  </p>
)
