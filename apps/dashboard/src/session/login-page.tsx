import { Brand } from '../parts/brand.tsx'
import styles from './door-page.module.css'
import { LoginForm } from './login-form.tsx'
import { ProviderLogin } from './provider-login.tsx'

/** The first page of somebody who is not logged in. */
export const LoginPage = () => (
  <main className={styles.page}>
    <title>Log in · Spout</title>
    <div className={styles.card}>
      <Brand />
      <h1 className={styles.title}>Log in</h1>
      <LoginForm />
      <ProviderLogin />
    </div>
  </main>
)
