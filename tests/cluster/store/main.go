// A server that speaks TiKV's protocol, for the tests: unistore, answering as TiKV does (answers.go).
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/ngaut/unistore/config"
	"github.com/ngaut/unistore/pd"
	"github.com/ngaut/unistore/server"
	"github.com/pingcap/kvproto/pkg/deadlock"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/log"
	"github.com/zhangjinpeng1987/raft"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// Larger than the largest value that the harvester stores.
const messageBytesMax = 64 << 20

// What the consensus has to tell goes where all else goes.
type consensusLog struct{ *zap.SugaredLogger }

func (l consensusLog) Warning(what ...interface{})              { l.Warn(what...) }
func (l consensusLog) Warningf(how string, what ...interface{}) { l.Warnf(how, what...) }

func main() {
	settings := flag.String("config", "", "a TOML file")
	drivers := flag.String("pd", "", "placement drivers, host:port each, with commas")
	address := flag.String("listen", "", "host:port")
	data := flag.String("data", "", "a directory")
	certificates := flag.String("certificates", "", "a directory with certificates: who has none is not answered")
	make := flag.String("make-certificates", "", "addresses with commas: makes the certificates, and no more")
	flag.Parse()
	var err error
	if *make != "" {
		err = makeCertificates(*certificates, strings.Split(*make, ","))
	} else {
		err = serve(*settings, *drivers, *address, *data, *certificates)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(settings, drivers, address, data, certificates string) error {
	conf := config.DefaultConf
	if _, err := toml.DecodeFile(settings, &conf); err != nil {
		return err
	}
	conf.Server.PDAddr, conf.Server.StoreAddr, conf.Engine.DBPath = drivers, address, data
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	logger, properties, err := log.InitLogger(&log.Config{Level: conf.Server.LogLevel})
	if err != nil {
		return err
	}
	log.ReplaceGlobals(logger, properties)
	raft.SetLogger(consensusLog{logger.Sugar()})

	placement, err := pd.NewClient(strings.Split(drivers, ","), "")
	if err != nil {
		return err
	}
	// The others look for this one as soon as the placement driver knows of it.
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	inner, err := server.New(&conf, placement)
	if err != nil {
		return err
	}
	options := []grpc.ServerOption{
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
		grpc.InitialWindowSize(1 << 30),
		grpc.InitialConnWindowSize(1 << 30),
		grpc.MaxRecvMsgSize(messageBytesMax),
	}
	if certificates != "" {
		known, err := onlyWith(certificates)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(known))
	}
	outer := grpc.NewServer(options...)
	tikvpb.RegisterTikvServer(outer, answers{inner})
	deadlock.RegisterDeadlockServer(outer, inner)
	return outer.Serve(listener)
}
