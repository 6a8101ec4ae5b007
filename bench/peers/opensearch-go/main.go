// What opensearch-go's BulkIndexer costs: reads a file of bulk lines, an action and a document each, and stores them.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"
)

type action struct {
	Create struct {
		Index string `json:"_index"`
		ID    string `json:"_id"`
	} `json:"create"`
}

func main() {
	address, path := os.Args[1], os.Args[2]
	client, err := opensearchapi.NewClient(opensearchapi.Config{
		Client: opensearch.Config{Addresses: []string{address}},
	})
	check(err)
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{Client: client})
	check(err)
	file, err := os.Open(path)
	check(err)
	lines := bufio.NewReaderSize(file, 1<<20)
	for {
		first, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		document, err := lines.ReadBytes('\n')
		check(err)
		var wanted action
		check(json.Unmarshal(first, &wanted))
		check(indexer.Add(context.Background(), opensearchutil.BulkIndexerItem{
			Action:     "create",
			Index:      wanted.Create.Index,
			DocumentID: wanted.Create.ID,
			Body:       bytes.NewReader(bytes.TrimRight(document, "\n")),
		}))
	}
	check(indexer.Close(context.Background()))
	if failed := indexer.Stats().NumFailed; failed > 0 {
		log.Fatalf("%d documents failed", failed)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
