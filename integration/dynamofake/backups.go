package dynamofake

// The types of the answer, in the service's spelling.
type recoveryDescription struct {
	PointInTimeRecoveryStatus string
}

type backupsDescription struct {
	ContinuousBackupsStatus        string
	PointInTimeRecoveryDescription recoveryDescription
}

type backupsOutput struct {
	ContinuousBackupsDescription backupsDescription
}

// describeContinuousBackups says that point-in-time recovery is off: this
// server has no backups.
func (s *Server) describeContinuousBackups(in *tableInput) (*backupsOutput, error) {
	if _, err := s.described(in); err != nil {
		return nil, err
	}
	return &backupsOutput{backupsDescription{"ENABLED", recoveryDescription{"DISABLED"}}}, nil
}
