#include "verify.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define APR1 "$apr1$"
#define APR1_SALT 8
#define APR1_ROUNDS 1000
#define MD5_BYTES 16
#define SHA "{SHA}"
#define SHA1_BYTES 20

static bool same(const char *made, const char *hash)
{
	size_t length = strlen(hash);

	return strlen(made) == length && CRYPTO_memcmp(made, hash, length) == 0;
}

static const char itoa64[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static char *put64(char *at, unsigned long value, int letters)
{
	for (; letters > 0; letters--, value >>= 6)
		*at++ = itoa64[value & 0x3f];
	return at;
}

static unsigned long three(const unsigned char *digest, int a, int b, int c)
{
	return (unsigned long)digest[a] << 16 | (unsigned long)digest[b] << 8 | digest[c];
}

/* One round of Apache's MD5: a digest of the password, the salt and the previous digest. */
static bool apr1_turn(EVP_MD_CTX *md, unsigned char *digest, int turn, const char *password, const char *salt, size_t salt_len)
{
	size_t length = strlen(password);

	if (!EVP_DigestInit_ex(md, EVP_md5(), NULL))
		return false;
	if (turn % 2 != 0)
		EVP_DigestUpdate(md, password, length);
	else
		EVP_DigestUpdate(md, digest, MD5_BYTES);
	if (turn % 3 != 0)
		EVP_DigestUpdate(md, salt, salt_len);
	if (turn % 7 != 0)
		EVP_DigestUpdate(md, password, length);
	if (turn % 2 != 0)
		EVP_DigestUpdate(md, digest, MD5_BYTES);
	else
		EVP_DigestUpdate(md, password, length);
	return EVP_DigestFinal_ex(md, digest, NULL);
}

static bool apr1_digest(EVP_MD_CTX *md, unsigned char *digest, const char *password, const char *salt, size_t salt_len)
{
	size_t length = strlen(password);
	bool done;

	if (!EVP_DigestInit_ex(md, EVP_md5(), NULL))
		return false;
	EVP_DigestUpdate(md, password, length);
	EVP_DigestUpdate(md, salt, salt_len);
	EVP_DigestUpdate(md, password, length);
	EVP_DigestFinal_ex(md, digest, NULL);

	if (!EVP_DigestInit_ex(md, EVP_md5(), NULL))
		return false;
	EVP_DigestUpdate(md, password, length);
	EVP_DigestUpdate(md, APR1, strlen(APR1));
	EVP_DigestUpdate(md, salt, salt_len);
	for (size_t left = length; left > 0; left -= left > MD5_BYTES ? MD5_BYTES : left)
		EVP_DigestUpdate(md, digest, left > MD5_BYTES ? MD5_BYTES : left);
	for (size_t bits = length; bits != 0; bits >>= 1)
		EVP_DigestUpdate(md, (bits & 1) != 0 ? "" : password, 1);
	done = EVP_DigestFinal_ex(md, digest, NULL);
	for (int turn = 0; done && turn < APR1_ROUNDS; turn++)
		done = apr1_turn(md, digest, turn, password, salt, salt_len);
	return done;
}

/* htpasswd -m: the same as $1$ of crypt(3), except for the name in the digest. */
static bool is_apr1(const char *password, const char *hash)
{
	const char *salt = hash + strlen(APR1);
	size_t salt_len = strcspn(salt, "$");
	unsigned char digest[MD5_BYTES];
	char made[64], *at;
	EVP_MD_CTX *md;
	bool done;

	if (salt_len > APR1_SALT || (md = EVP_MD_CTX_new()) == NULL)
		return false;
	done = apr1_digest(md, digest, password, salt, salt_len);
	EVP_MD_CTX_free(md);
	if (!done)
		return false;
	at = made + sprintf(made, "%s%.*s$", APR1, (int)salt_len, salt);
	at = put64(at, three(digest, 0, 6, 12), 4);
	at = put64(at, three(digest, 1, 7, 13), 4);
	at = put64(at, three(digest, 2, 8, 14), 4);
	at = put64(at, three(digest, 3, 9, 15), 4);
	at = put64(at, three(digest, 4, 10, 5), 4);
	at = put64(at, digest[11], 2);
	*at = '\0';
	done = same(made, hash);
	OPENSSL_cleanse(made, sizeof made);
	return done;
}

/* htpasswd -s: without a salt. */
static bool is_sha1(const char *password, const char *hash)
{
	unsigned char digest[SHA1_BYTES];
	char made[64] = SHA;

	if (!EVP_Digest(password, strlen(password), digest, NULL, EVP_sha1(), NULL))
		return false;
	EVP_EncodeBlock((unsigned char *)made + strlen(SHA), digest, SHA1_BYTES);
	return same(made, hash);
}

static bool is_crypt(const char *password, const char *hash)
{
	static struct crypt_data data;
	const char *made;
	bool found;

	/* Static because it is large. Only one thread calls this. */
	memset(&data, 0, sizeof data);
	made = crypt_r(password, hash, &data);
	found = made != NULL && made[0] != '*' && same(made, hash);
	OPENSSL_cleanse(&data, sizeof data);
	return found;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool verify_password(const char *password, const char *hash)
{
	static const char *const of_crypt[] = {"$2a$", "$2b$", "$2y$", "$5$", "$6$"};

	if (begins(hash, APR1))
		return is_apr1(password, hash);
	if (begins(hash, SHA))
		return is_sha1(password, hash);
	for (size_t at = 0; at < sizeof of_crypt / sizeof of_crypt[0]; at++)
		if (begins(hash, of_crypt[at]))
			return is_crypt(password, hash);
	return false;
}
