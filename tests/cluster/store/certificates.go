package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc/credentials"
)

// makeCertificates writes an authority (ca.pem), and what it has signed for the servers (server.pem,
// server.key) and for whoever asks them (client.pem, client.key).
func makeCertificates(dir string, addresses []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	authority := template(1, "authority")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := write(dir, "ca", authority, authority, key, key, false); err != nil {
		return err
	}
	for number, name := range []string{"server", "client"} {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		// Servers ask each other, too.
		signed := template(int64(number)+2, name)
		signed.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
		for _, address := range addresses {
			signed.IPAddresses = append(signed.IPAddresses, net.ParseIP(address))
		}
		if err := write(dir, name, signed, authority, own, key, true); err != nil {
			return err
		}
	}
	return nil
}

func template(number int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(number),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(0, 0, 7),
	}
}

func write(dir, name string, made, by *x509.Certificate, own, signer *ecdsa.PrivateKey, withKey bool) error {
	certificate, err := x509.CreateCertificate(rand.Reader, made, by, &own.PublicKey, signer)
	if err != nil {
		return err
	}
	pair := &pem.Block{Type: "CERTIFICATE", Bytes: certificate}
	if err := os.WriteFile(filepath.Join(dir, name+".pem"), pem.EncodeToMemory(pair), 0o600); err != nil || !withKey {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return err
	}
	pair = &pem.Block{Type: "PRIVATE KEY", Bytes: key}
	return os.WriteFile(filepath.Join(dir, name+".key"), pem.EncodeToMemory(pair), 0o600)
}

// onlyWith answers nobody without a certificate of the authority.
func onlyWith(dir string) (credentials.TransportCredentials, error) {
	own, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(authority)
	return credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{own},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    known,
	}), nil
}
